"""The shapes of sources in requests and answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from registry.api.shapes import FileShape, FindingShape, HiddenShape, Strict, hidden
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportRequest
from registry.core.text import diff
from registry.core.text.diff import FileChange
from registry.core.text.merge_bundles import FileMerge
from registry.models import Installation, Provenance, Source, SourceJob, SourceJobItem
from registry.models.sources import JOB_STATES, JOBS, KINDS, STATES, WAITING
from registry.services.sources import import_preview, sources
from registry.services.sources.import_preview import ImportPreview
from registry.services.sources.sources import EntryStatus


class SourceInput(Strict):
    kind = serializers.ChoiceField(choices=KINDS)
    address = serializers.CharField(help_text="With https:// at its start, and without credentials.")
    ref = serializers.CharField(required=False, allow_blank=True, default="", help_text="git: branch, tag or commit.")
    label = serializers.CharField(required=False, allow_blank=True, default="", help_text="What people call it.")


class PreviewInput(Strict):
    name = serializers.CharField(help_text="As the source names it.")
    again = serializers.BooleanField(required=False, default=False, help_text="Ask the source once more.")

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "as": _as()}


def _as() -> serializers.CharField:
    return serializers.CharField(required=False, allow_blank=True, default="", help_text="Its name in the project.")


class SearchInput(Strict):
    q = serializers.CharField(help_text="Two characters or more.")


class WishInput(Strict):
    name = serializers.CharField(help_text="As the source names it.")
    digest = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Of the bundle you looked at; nothing else is stored."
    )
    on_conflict = serializers.ChoiceField(
        choices=import_request.ON_CONFLICT,
        required=False,
        default=import_request.SKIP,
        help_text="Where another skill has the name.",
    )
    if_edited = serializers.ChoiceField(
        choices=import_request.IF_EDITED,
        required=False,
        allow_blank=True,
        default="",
        help_text="Where it was edited here.",
    )
    seen = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The digest of the project's skill that you saw."
    )
    answers = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict, help_text="theirs or mine for each conflict."
    )

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "as": _as()}


class WishesInput(Strict):
    skills = WishInput(many=True, allow_empty=False)


class SourceShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=KINDS)
    address = serializers.CharField(help_text="Up to the question mark.")
    ref = serializers.CharField(allow_blank=True)
    label = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=STATES, help_text="unreachable says nothing about what is there.")
    problem = serializers.CharField(allow_blank=True)
    problems = serializers.ListField(child=serializers.CharField(), help_text="What it offers and cannot be used.")
    commit = serializers.CharField(allow_blank=True, help_text="git: the commit that was read.")
    offered = serializers.IntegerField()
    installed = serializers.IntegerField()
    checked_at = serializers.DateTimeField(allow_null=True)
    seen_at = serializers.DateTimeField(allow_null=True)
    added_at = serializers.DateTimeField()
    added_by = serializers.CharField(allow_null=True)


class SourcesPage(serializers.Serializer[Any]):
    results = SourceShape(many=True)
    next = serializers.CharField(allow_null=True)


class InstalledShape(serializers.Serializer[Any]):
    skill = serializers.CharField(help_text="Its name in the project.")
    version = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    edited = serializers.BooleanField()
    source_version = serializers.CharField(allow_blank=True)
    source_digest = serializers.CharField(allow_blank=True)


class EntryShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    version = serializers.CharField(allow_blank=True)
    digest = serializers.CharField(allow_blank=True, help_text="In the words of the source.")
    state = serializers.ChoiceField(choices=[sources.AVAILABLE, sources.INSTALLED, sources.NEWER])
    taken = serializers.BooleanField(help_text="A skill of this name stands that did not come from here.")
    proposal = serializers.IntegerField(allow_null=True, help_text="One that waits to bring it in.")
    installed = InstalledShape(allow_null=True)


class EntriesPage(serializers.Serializer[Any]):
    results = EntryShape(many=True)
    next = serializers.CharField(allow_null=True)


class ConflictShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    key = serializers.CharField(help_text="Answer it with theirs or mine.")
    base = serializers.CharField(allow_null=True)
    theirs = serializers.CharField(allow_null=True)
    mine = serializers.CharField(allow_null=True)


class FileChangeShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    status = serializers.ChoiceField(choices=["added", "removed", "changed", "renamed"])
    binary = serializers.BooleanField()
    diff = serializers.CharField(allow_blank=True)


class ArrivalShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    skill = serializers.CharField(help_text="Its name in the project.")
    description = serializers.CharField()
    source = serializers.CharField(help_text="The address it comes from.")
    version = serializers.CharField(allow_blank=True)
    digest = serializers.CharField(help_text="Name it to import exactly this.")
    action = serializers.ChoiceField(
        choices=[
            import_preview.CREATE,
            import_preview.TAKEN,
            import_preview.SAME,
            import_preview.UPDATE,
            import_preview.MERGE,
        ]
    )
    seen = serializers.CharField(allow_blank=True, help_text="What stands under the name now.")
    size = serializers.IntegerField()
    tokens = serializers.IntegerField()
    files = FileShape(many=True)
    findings = FindingShape(many=True)
    hides = HiddenShape(many=True)
    changes = FileChangeShape(many=True, help_text="Against what stands under the name now.")
    conflicts = ConflictShape(many=True, help_text="Where a merge needs answers.")


class JobShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=JOBS)
    state = serializers.ChoiceField(choices=JOB_STATES)
    problem = serializers.CharField(allow_blank=True)
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    link = serializers.CharField(help_text="Where to see how far it is.")


class OutcomeShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=[WAITING, *import_request.DONE, *import_request.REFUSED])
    reason = serializers.CharField(allow_blank=True)
    skill = serializers.CharField(allow_blank=True)
    version = serializers.CharField(allow_blank=True)
    digest = serializers.CharField(allow_blank=True)
    proposal = serializers.IntegerField(allow_null=True)


class JobPage(JobShape):
    results = OutcomeShape(many=True)
    next = serializers.CharField(allow_null=True)


def checked(shape: type[Strict], request: Request) -> dict[str, Any]:
    given = shape(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def wish(given: dict[str, Any]) -> ImportRequest:
    return ImportRequest(**{("new_name" if key == "as" else key): value for key, value in given.items()})


def source(one: Source, *, offered: int, installed: int) -> dict[str, Any]:
    return {
        "id": one.pk,
        "kind": one.kind,
        "address": one.shown,
        "ref": one.ref,
        "label": one.label,
        "state": one.state,
        "problem": one.problem,
        "problems": one.problems,
        "commit": one.pin,
        "offered": offered,
        "installed": installed,
        "checked_at": one.checked_at.isoformat() if one.checked_at else None,
        "seen_at": one.seen_at.isoformat() if one.seen_at else None,
        "added_at": one.added_at.isoformat(),
        "added_by": one.added_by.display_name if one.added_by else None,
    }


def entry(one: EntryStatus) -> dict[str, Any]:
    return {
        "name": one.entry.name,
        "description": one.entry.description,
        "version": one.entry.version,
        "digest": one.entry.digest,
        "state": one.state,
        "taken": one.taken,
        "proposal": one.proposal,
        "installed": _installed(one.installation) if one.installation else None,
    }


def _installed(one: Installation) -> dict[str, Any]:
    current = one.skill.current
    return {
        "skill": one.skill.name,
        "version": current.version if current else None,
        "digest": current.digest if current else None,
        "edited": one.edited,
        "source_version": one.base.source_version,
        "source_digest": one.base.source_digest,
    }


def arrival(one: ImportPreview) -> dict[str, Any]:
    check = one.checked
    return {
        "name": one.name,
        "skill": one.target,
        "description": check.said.description,
        "source": one.source.shown,
        "version": one.fetched.version,
        "digest": one.digest,
        "action": one.action,
        "seen": one.seen,
        "size": check.bundle.size,
        "tokens": check.tokens,
        "files": [{"path": file.path, "size": file.size, "digest": file.digest} for file in check.bundle.manifest],
        "findings": [finding.as_json() for finding in check.findings],
        "hides": [hidden(each) for each in one.hides],
        "changes": _changes(one),
        "conflicts": [each for file in one.joined.open for each in _conflicts(file)] if _merges(one) else [],
    }


def _merges(one: ImportPreview) -> bool:
    return one.action == import_preview.MERGE


def _changes(one: ImportPreview) -> list[dict[str, Any]]:
    before: Mapping[str, bytes] = one.before
    found = diff.files(before, one.theirs) if before else ()
    return [_change(each, before, one.theirs) for each in found if each.status != "equal"]


def _change(change: FileChange, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, Any]:
    said = {"path": change.path, "status": change.status, "binary": change.binary, "diff": ""}
    if not change.binary and change.status != "renamed":
        old, new = (side.get(change.path, b"").decode() for side in (before, after))
        said["diff"] = diff.unified(old, new, change.path)
    return said


def _conflicts(file: FileMerge) -> Sequence[dict[str, str | None]]:
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


def job(one: SourceJob, link: str, *, done: int, total: int) -> dict[str, Any]:
    return {
        "id": one.pk,
        "kind": one.kind,
        "state": one.state,
        "problem": one.problem,
        "done": done,
        "total": total,
        "created_at": one.created_at.isoformat(),
        "finished_at": one.finished_at.isoformat() if one.finished_at else None,
        "link": link,
    }


def item(one: SourceJobItem) -> dict[str, Any]:
    names = ("name", "status", "reason", "skill", "version", "digest")
    return {**{name: getattr(one, name) for name in names}, "proposal": one.proposal_id}


def provenance(one: Provenance) -> dict[str, Any]:
    return {
        "kind": one.source.kind,
        "address": one.source.shown,
        "name": one.name,
        "version": one.source_version,
        "digest": one.source_digest,
        "bundle": one.fetched_digest,
        "how": one.how,
        "at": one.at.isoformat(),
    }
