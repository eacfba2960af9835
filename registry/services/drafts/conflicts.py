"""Conflicts: merge a draft with a version that somebody else published in the meantime."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, FileEntry, in_byte_order
from registry.core.catalog.precedence import PROJECT
from registry.core.errors import InvalidInput, NotFound, Stale
from registry.core.text import merge_bundles
from registry.core.text.merge_bundles import BundleMerge
from registry.models import Draft
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.drafts import drafts
from registry.services.drafts.drafts import Place
from registry.services.files import blobs
from registry.services.permissions import Actor, require
from registry.services.skills import versions


@dataclass(frozen=True, slots=True)
class Conflict:
    """`theirs` is None if the skill was deleted in the meantime; `author` is empty for a built-in skill."""

    draft: Draft
    theirs: Loaded | None
    author: str
    merge: BundleMerge

    @property
    def digest(self) -> str:
        return self.theirs.candidate.digest if self.theirs else ""


def find(place: Place, *, by: Actor) -> Conflict:
    """Return the conflict of the person's draft. Raise NotFound if nobody else saved since it was started."""
    require(by, roles.PROPOSE, place.project)
    draft = drafts.find(place, by=by)
    exists = place.name and catalog.find(place.project.pk, place.name) is not None
    theirs = catalog.inspect(place.project, place.name)[1] if exists else None
    digest = theirs.candidate.digest if theirs else ""
    if draft.pk is None or digest == draft.base:
        raise NotFound("Nobody else saved this skill since you started. Your draft is unchanged.")
    base = drafts.base_bundle(draft)
    merge = merge_bundles.merge(base, theirs.bundle() if theirs else base, drafts.bundle(draft))
    return Conflict(draft, theirs, _author(place, theirs), merge)


def _author(place: Place, theirs: Loaded | None) -> str:
    if theirs is None or theirs.candidate.source != PROJECT:
        return ""
    return versions.get(place.project, place.name, theirs.candidate.version).by


def resolve(place: Place, answers: Mapping[str, str], *, theirs: str, by: Actor) -> Draft:
    """Save the merge as the draft, based on the current version. Unanswered conflicts keep the person's text."""
    conflict = find(place, by=by)
    if conflict.digest != theirs:
        raise Stale("Somebody saved the skill again since this page was loaded. Choose again.", digest=conflict.digest)
    files = conflict.merge.files(answers)
    if conflict.theirs and conflict.theirs.on_disk:
        blobs.put(conflict.theirs.bundle(), now=timezone.now())
    with drafts.editing(Place(place.project, place.name, seen=drafts.state(conflict.draft)), by=by) as draft:
        skill_md = files.pop(SKILL_MD)
        draft.base, draft.base_manifest = theirs, conflict.theirs.files if conflict.theirs else ()
        draft.manifest = in_byte_order(_store(files))
        mode = draft.content["mode"]
        draft.content = {**draft.content, "mode": drafts.RAW, "text": skill_md.decode()}
        _restore_mode(draft, mode)
    return draft


def _store(files: Mapping[str, bytes]) -> Iterator[FileEntry]:
    now = timezone.now()
    for path, content in files.items():
        yield FileEntry(path, len(content), blobs.put_content(content, now=now))


def _restore_mode(draft: Draft, mode: str) -> None:
    try:
        drafts.set_mode(draft, mode)
    except InvalidInput:
        return  # the merge of two valid headers may be invalid; code mode shows it
