"""Answers about sources: their entries, import previews, and jobs."""

from collections.abc import Mapping
from typing import Annotated, TypedDict

from registry.api.answers import FileShape, HiddenShape, file_shapes, finding_shapes, hidden_shapes, timestamp
from registry.core.findings import FindingShape
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportResult
from registry.core.text import diff
from registry.core.text.merge_bundles import FileMerge
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Installation, Provenance, Source, SourceJob, SourceJobItem
from registry.models.sources import JOB_STATES, JOBS, KINDS, STATES, WAITING
from registry.services.sources import import_preview, sources
from registry.services.sources.import_preview import ImportPreview
from registry.services.sources.sources import EntryStatus


class SourceShape(TypedDict):
    id: int
    kind: Annotated[str, OneOf(KINDS)]
    address: Annotated[str, "Without the query string."]
    ref: str
    label: str
    state: Annotated[str, OneOf(STATES), "If unreachable, the entries are those of the last successful check."]
    problem: str
    problems: Annotated[list[str], "Entries that cannot be used, and why."]
    commit: Annotated[str, "git: the commit that was read."]
    offered: int
    installed: int
    checked_at: Timestamp | None
    seen_at: Timestamp | None
    added_at: Timestamp
    added_by: str | None


class SourcesPage(TypedDict):
    results: list[SourceShape]
    next: str | None


class InstalledShape(TypedDict):
    skill: Annotated[str, "The name in the project."]
    version: str | None
    digest: str | None
    edited: bool
    source_version: str
    source_digest: str


class EntryShape(TypedDict):
    name: str
    description: str
    version: str
    digest: Annotated[str, "As the source states it."]
    state: Annotated[str, OneOf((sources.AVAILABLE, sources.INSTALLED, sources.NEWER))]
    taken: Annotated[bool, "Whether the project has a skill of this name from elsewhere."]
    proposal: Annotated[int | None, "An open proposal to import it."]
    installed: InstalledShape | None


class EntriesPage(TypedDict):
    results: list[EntryShape]
    next: str | None


class ConflictShape(TypedDict):
    path: str
    key: Annotated[str, "Send theirs or mine under this key."]
    base: str | None
    theirs: str | None
    mine: str | None


class FileChangeShape(TypedDict):
    path: str
    status: Annotated[str, OneOf(("added", "removed", "changed", "renamed"))]
    binary: bool
    large: Annotated[bool, "Too long to compare line by line, so `diff` is empty."]
    diff: str


_ACTIONS = (
    import_preview.CREATE,
    import_preview.TAKEN,
    import_preview.SAME,
    import_preview.UPDATE,
    import_preview.MERGE,
)


class ImportPreviewShape(TypedDict):
    name: str
    skill: Annotated[str, "The name in the project."]
    description: str
    source: Annotated[str, "The address of the source."]
    version: str
    digest: Annotated[str, "Send it with the import to get exactly this bundle."]
    action: Annotated[str, OneOf(_ACTIONS)]
    seen: Annotated[str, "The digest of the project's current skill of this name."]
    size: int
    tokens: int
    files: list[FileShape]
    findings: list[FindingShape]
    hides: list[HiddenShape]
    changes: Annotated[list[FileChangeShape], "Compared to the project's current skill of this name."]
    conflicts: Annotated[list[ConflictShape], "The places where a merge needs your choice."]


class JobShape(TypedDict):
    id: int
    kind: Annotated[str, OneOf(JOBS)]
    state: Annotated[str, OneOf(JOB_STATES)]
    problem: str
    done: int
    total: int
    created_at: Timestamp
    finished_at: Timestamp | None
    link: Annotated[str, "The address of this job, to follow its progress."]


class OutcomeShape(TypedDict):
    name: str
    status: Annotated[str, OneOf((WAITING, *import_request.DONE, *import_request.REFUSED))]
    reason: str
    skill: str
    version: str
    digest: str
    proposal: int | None


class JobPage(JobShape):
    results: list[OutcomeShape]
    next: str | None


class ProvenanceShape(TypedDict):
    kind: Annotated[str, OneOf(KINDS)]
    address: str
    name: str
    version: str
    digest: str
    bundle: Annotated[str, "The digest of the bundle as the source delivered it."]
    how: str
    at: Timestamp


def source_shape(source: Source, *, offered: int, installed: int) -> SourceShape:
    return {
        "id": source.pk,
        "kind": source.kind,
        "address": source.shown,
        "ref": source.ref,
        "label": source.label,
        "state": source.state,
        "problem": source.problem,
        "problems": source.problems,
        "commit": source.pin,
        "offered": offered,
        "installed": installed,
        "checked_at": timestamp(source.checked_at),
        "seen_at": timestamp(source.seen_at),
        "added_at": source.added_at.isoformat(),
        "added_by": source.added_by.display_name if source.added_by else None,
    }


def entry_shape(status: EntryStatus) -> EntryShape:
    return {
        "name": status.entry.name,
        "description": status.entry.description,
        "version": status.entry.version,
        "digest": status.entry.digest,
        "state": status.state,
        "taken": status.taken,
        "proposal": status.proposal,
        "installed": _installed_shape(status.installation) if status.installation else None,
    }


def _installed_shape(installation: Installation) -> InstalledShape:
    current = installation.skill.current
    return {
        "skill": installation.skill.name,
        "version": current.version if current else None,
        "digest": current.digest if current else None,
        "edited": installation.edited,
        "source_version": installation.base.source_version,
        "source_digest": installation.base.source_digest,
    }


def import_preview_shape(preview: ImportPreview) -> ImportPreviewShape:
    checked = preview.checked
    merges = preview.action == import_preview.MERGE
    return {
        "name": preview.name,
        "skill": preview.target,
        "description": checked.parsed.description,
        "source": preview.source.shown,
        "version": preview.fetched.version,
        "digest": preview.digest,
        "action": preview.action,
        "seen": preview.seen,
        "size": checked.bundle.size,
        "tokens": checked.tokens,
        "files": file_shapes(checked.bundle.manifest),
        "findings": finding_shapes(checked.findings),
        "hides": hidden_shapes(preview.hides),
        "changes": _change_shapes(preview),
        "conflicts": [each for file in preview.joined.open for each in _conflict_shapes(file)] if merges else [],
    }


def _change_shapes(preview: ImportPreview) -> list[FileChangeShape]:
    before: Mapping[str, bytes] = preview.before
    changes = diff.files(before, preview.theirs) if before else ()
    return [
        {"path": each.path, "status": each.status, "binary": each.binary, "large": each.large, "diff": each.patch}
        for each in changes
        if each.status != "equal"
    ]


def _conflict_shapes(file: FileMerge) -> list[ConflictShape]:
    if file.whole:
        return [{"path": file.path, "key": file.whole, "base": None, "theirs": None, "mine": None}]
    return [
        {
            "path": file.path,
            "key": choice.key,
            "base": choice.block.base,
            "theirs": choice.block.theirs,
            "mine": choice.block.mine,
        }
        for choice in file.choices
    ]


def job_shape(job: SourceJob, link: str, *, done: int, total: int) -> JobShape:
    return {
        "id": job.pk,
        "kind": job.kind,
        "state": job.state,
        "problem": job.problem,
        "done": done,
        "total": total,
        "created_at": job.created_at.isoformat(),
        "finished_at": timestamp(job.finished_at),
        "link": link,
    }


def outcome_shape(result: SourceJobItem | ImportResult) -> OutcomeShape:
    return {
        "name": result.name,
        "status": result.status,
        "reason": result.reason,
        "skill": result.skill,
        "version": result.version,
        "digest": result.digest,
        "proposal": result.proposal_id if isinstance(result, SourceJobItem) else result.proposal,
    }


def provenance_shape(provenance: Provenance) -> ProvenanceShape:
    return {
        "kind": provenance.source.kind,
        "address": provenance.source.shown,
        "name": provenance.name,
        "version": provenance.source_version,
        "digest": provenance.source_digest,
        "bundle": provenance.fetched_digest,
        "how": provenance.how,
        "at": provenance.at.isoformat(),
    }
