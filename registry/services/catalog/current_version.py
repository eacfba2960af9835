"""The current version of a project's skill by name: one prepared query, because every load runs it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import Claim
from registry.models import Approval, Scan, Skill
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
class ScanSummary:
    """The security scan of a version: its status, and the numbers of errors and warnings."""

    status: str
    errors: int
    warnings: int


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """A project's claim to a name, with the files, the approval and the scan of its current version."""

    claim: Claim
    files: tuple[FileEntry, ...] = ()
    approval: Approved | None = None
    scan: ScanSummary | None = None


def approved(approval: Approval) -> Approved:
    return Approved(approval.by.display_name, approval.at, approval.digest, approval.proposal_id, approval.edited)


def summarised(scan: Scan | None) -> ScanSummary | None:
    """Return the result of a scan, or None before the first one."""
    return ScanSummary(scan.status, scan.errors, scan.warnings) if scan is not None and scan.scanner else None


_COLUMNS = (
    *candidates.CLAIM_COLUMNS, "current__scan__scanner", "current__scan__status", "current__scan__errors",
    "current__scan__warnings", "current__manifest", "current__approval__at", "current__approval__digest",
    "current__approval__proposed_digest", "current__approval__proposal_id", "current__approval__by__first_name",
    "current__approval__by__last_name", "current__approval__by__username",
)  # fmt: skip


def _read(row: tuple[Any, ...]) -> CurrentVersion:
    width = len(candidates.CLAIM_COLUMNS)
    claim = candidates.claim(row[:width])
    scanner, status, errors, warnings, manifest, *approval = row[width:]
    if claim.candidate is None:
        return CurrentVersion(claim)
    scan = ScanSummary(status, errors, warnings) if scanner else None
    return CurrentVersion(claim, manifest, _approval(*approval), scan)


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
