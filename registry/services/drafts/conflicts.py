"""Two people wrote at once: what stands now against a draft, and the answers that bring the two together."""

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
    """`theirs` is None where the skill was deleted meanwhile; `author` is empty where a directory changed."""

    draft: Draft
    theirs: Loaded | None
    author: str
    joined: BundleMerge

    @property
    def digest(self) -> str:
        return self.theirs.candidate.digest if self.theirs else ""


def look(place: Place, *, by: Actor) -> Conflict:
    """What stands now against the person's draft. NotFound where nobody saved meanwhile."""
    require(by, roles.PROPOSE, place.project)
    draft = drafts.find(place, by=by)
    standing = catalog.find(place.project.pk, place.name) if place.name else None
    theirs = catalog.inspect(place.project, place.name)[1] if standing else None
    digest = theirs.candidate.digest if theirs else ""
    if draft.pk is None or digest == draft.base:
        raise NotFound("Nobody else has saved this skill since you began. Your draft is as you left it.")
    base = drafts.base_bundle(draft)
    joined = merge_bundles.merge(base, theirs.bundle() if theirs else base, drafts.bundle(draft))
    return Conflict(draft, theirs, _author(place, theirs), joined)


def _author(place: Place, theirs: Loaded | None) -> str:
    if theirs is None or theirs.candidate.source != PROJECT:
        return ""
    return versions.get(place.project, place.name, theirs.candidate.version).by


def settle(place: Place, answers: Mapping[str, str], *, theirs: str, by: Actor) -> Draft:
    """Makes the answers the draft, based on what stands now. What was not answered stays as the person wrote it."""
    conflict = look(place, by=by)
    if conflict.digest != theirs:
        raise Stale("The skill was saved once more since this page was loaded. Choose again.", digest=conflict.digest)
    files = conflict.joined.files(answers)
    if conflict.theirs and conflict.theirs.on_disk:
        blobs.put(conflict.theirs.bundle(), now=timezone.now())
    with drafts.editing(Place(place.project, place.name, seen=drafts.state(conflict.draft)), by=by) as draft:
        skill_md = files.pop(SKILL_MD)
        draft.base, draft.base_manifest = theirs, conflict.theirs.files if conflict.theirs else ()
        draft.manifest = in_byte_order(_stored(files))
        mode = draft.content["mode"]
        draft.content = {**draft.content, "mode": drafts.RAW, "text": skill_md.decode()}
        _back_to(draft, mode)
    return draft


def _stored(files: Mapping[str, bytes]) -> Iterator[FileEntry]:
    now = timezone.now()
    for path, content in files.items():
        yield FileEntry(path, len(content), blobs.put_content(content, now=now))


def _back_to(draft: Draft, mode: str) -> None:
    try:
        drafts.switched(draft, mode)
    except InvalidInput:
        return  # two headers that each can be read may make one that cannot; the exact text shows it
