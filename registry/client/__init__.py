"""A client for Skillsite, as a library and as a command. It needs httpx and PyYAML, but not Django."""

from typing import TYPE_CHECKING, Any

from registry.client.client import SkillsiteClient
from registry.client.errors import ClientError
from registry.client.retry import Retrying

if TYPE_CHECKING:
    from registry.client.resolved_skills import ResolvedSkills, resolve, resolved

__all__ = ["ClientError", "ResolvedSkills", "Retrying", "SkillsiteClient", "resolve", "resolved"]


def __getattr__(name: str) -> Any:
    """Import the resolver when it is used first, because importing boto3 takes longer than everything else."""
    if name not in ("ResolvedSkills", "resolve", "resolved"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from registry.client import resolved_skills  # noqa: PLC0415

    return getattr(resolved_skills, name)
