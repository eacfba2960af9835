"""The current version of a project's skill by name: one prepared query, because every load runs it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import Claim
from registry.models import Approval, Skill
from registry.services.catalog import candidates, prepared_query
from registry.services.catalog.prepared_query import OneRow


@dataclass(frozen=True, slots=True)
class Approved:
    """The approval of a version: `digest` is of the bytes that `by` approved.

    `edited` means that they differ from the bytes that were proposed.
    """

    by: str
    at: datetime
    digest: str
    proposal: int
    edited: bool


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """A project's claim to a name, with the files and the approval of its current version."""

    claim: Claim
    files: tuple[FileEntry, ...] = ()
    approval: Approved | None = None


def approved(approval: Approval) -> Approved:
    return Approved(approval.by.display_name, approval.at, approval.digest, approval.proposal_id, approval.edited)


_COLUMNS = (
    *candidates.CLAIM_COLUMNS, "current__manifest", "current__approval__at", "current__approval__digest",
    "current__approval__proposed_digest", "current__approval__proposal_id", "current__approval__by__first_name",
    "current__approval__by__last_name", "current__approval__by__username",
)  # fmt: skip


def _read(row: tuple[Any, ...]) -> CurrentVersion:
    width = len(candidates.CLAIM_COLUMNS)
    claim = candidates.claim(row[:width])
    manifest, *approval = row[width:]
    return CurrentVersion(claim, manifest, _approval(*approval)) if claim.candidate else CurrentVersion(claim)


def _approval(
    at: datetime | None, digest: str, proposed: str, proposal: int, first: str, last: str, username: str
) -> Approved | None:
    if at is None:
        return None
    return Approved(f"{first} {last}".strip() or username, at, digest, proposal, digest != proposed)


# Keep fewer rows than other queries do: one row may list a thousand files.
find = OneRow(
    lambda project_id, name: Skill.objects.filter(project_id=project_id, name=name).values_list(*_COLUMNS),
    read=_read,
    placeholders=(prepared_query.NUMBER, prepared_query.TEXT),
    cached_rows=1_024,
)
