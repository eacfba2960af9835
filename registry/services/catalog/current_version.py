"""What a project has of its own under one name: read for every load, so with one query whose statement is made once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import PROJECT, Candidate
from registry.models import Approval, Skill
from registry.services.catalog import prepared_query
from registry.services.catalog.prepared_query import OneRow


@dataclass(frozen=True, slots=True)
class Approved:
    """Who let which bytes through."""

    by: str
    at: datetime
    digest: str
    proposal: int


@dataclass(frozen=True, slots=True)
class Own:
    """`candidate` is None where no version is left. It counts where the name is switched on and overrides."""

    enabled: bool
    overrides: bool
    candidate: Candidate | None = None
    files: tuple[FileEntry, ...] = ()
    approval: Approved | None = None


def approved(approval: Approval) -> Approved:
    return Approved(approval.by.display_name, approval.at, approval.digest, approval.proposal_id)


_COLUMNS = (
    "name", "enabled", "overrides", "current__version", "current__yanked_at", "current__digest",
    "current__description", "current__kind", "current__tags", "current__requires", "current__triggers",
    "current__tokens", "current__created_at", "current__manifest", "current__approval__at",
    "current__approval__digest", "current__approval__proposal_id", "current__approval__by__first_name",
    "current__approval__by__last_name", "current__approval__by__username",
)  # fmt: skip


def _own(row: tuple[Any, ...]) -> Own:
    name, enabled, overrides, version, yanked_at, *said = row
    if version is None or yanked_at is not None:
        return Own(enabled, overrides)
    digest, description, kind, tags, requires, triggers, tokens, at, manifest, *let_through = said
    candidate = Candidate(
        name, PROJECT, version, digest, description, kind, tuple(tags), tuple(requires), tuple(triggers), tokens,
        changed_at=at,
    )  # fmt: skip
    return Own(enabled, overrides, candidate, manifest, _approval(*let_through))


def _approval(at: datetime | None, digest: str, proposal: int, first: str, last: str, username: str) -> Approved | None:
    return Approved(f"{first} {last}".strip() or username, at, digest, proposal) if at is not None else None


# Fewer are kept than of other rows: one may name a thousand files.
under = OneRow(
    lambda project_id, name: Skill.objects.filter(project_id=project_id, name=name).values_list(*_COLUMNS),
    read=_own,
    asked=(prepared_query.NUMBER, prepared_query.TEXT),
    kept=1_024,
)
