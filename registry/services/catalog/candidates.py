"""Candidates for precedence, built from rows of the database."""

from collections.abc import Sequence
from typing import Any

from registry.core.catalog.precedence import PROJECT, Candidate, Claim
from registry.models import Version

_VERSION_FIELDS = (
    "version", "digest", "description", "kind", "tags", "requires", "triggers", "tokens", "created_at",
)  # fmt: skip

# The columns of a `Skill` that `claim` reads, in this order.
CLAIM_COLUMNS = (
    "name", "enabled", "overrides", "current__yanked_at", "current__quarantined_at",
    *(f"current__{field}" for field in _VERSION_FIELDS),
)  # fmt: skip


def claim(row: Sequence[Any], *, changed_by: str = "") -> Claim:
    """Return what a project claims about a name, from the values of `CLAIM_COLUMNS`.

    A withdrawn or quarantined version is never a candidate.
    """
    name, enabled, overrides, yanked_at, quarantined_at, *current = row
    available = overrides and current[0] is not None and yanked_at is None and quarantined_at is None
    return Claim(name, enabled, overrides, _candidate(name, current, changed_by) if available else None)


def from_version(name: str, version: Version) -> Candidate:
    return _candidate(name, [getattr(version, field) for field in _VERSION_FIELDS], "")


def _candidate(name: str, values: Sequence[Any], changed_by: str) -> Candidate:
    version, digest, description, kind, tags, requires, triggers, tokens, created_at = values
    return Candidate(
        name=name,
        source=PROJECT,
        version=version,
        digest=digest,
        description=description,
        kind=kind,
        tags=tuple(tags),
        requires=tuple(requires),
        triggers=tuple(triggers),
        tokens=tokens,
        changed_at=created_at,
        changed_by=changed_by,
    )
