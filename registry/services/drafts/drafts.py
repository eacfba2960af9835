"""Drafts: what one person is writing, kept for them alone until they publish it or throw it away.

A draft holds what was typed, valid or not. No agent and no other person can notice one, so keeping it is no change
of the project: it is neither audited nor does it move the revision. Publishing is, through the verbs of `skills`, and
proposing, through `proposals`. Whoever may propose may have drafts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle, FileEntry, bundle_digest, content_digest, in_byte_order, normalise
from registry.core.errors import Forbidden, InvalidInput, NotFound, SkillsiteError, Stale, TooLarge
from registry.core.format import skill_form
from registry.core.format.skill_form import Fields
from registry.core.text.edits import Edit
from registry.models import Draft, Project, Skill, Version
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor, require, require_publish
from registry.services.proposals import proposals
from registry.services.proposals.prepare import CREATE, UPDATE, Suggestion
from registry.services.proposals.proposals import Proposed
from registry.services.skills import bundles, skills, versions

FORM, RAW = "form", "raw"


@dataclass(frozen=True, slots=True)
class Typed:
    """What one page of the editor holds: the fields of the form, or the exact text."""

    mode: str
    fields: Fields = field(default_factory=Fields)
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Which draft a page is about, and which state of things it was made from.

    `name` is empty for a skill that does not exist yet, and `copy_of` then names the skill it began as a copy of.
    `base` is the digest the page was made from; `seen` the state of the draft it shows, None to write over any.
    """

    project: Project
    name: str = ""
    copy_of: str = ""
    base: str = ""
    seen: str | None = None


def find(place: Place, *, by: Actor) -> Draft:
    """The person's draft, or what a new one would begin with; that one is stored when something is kept."""
    require(by, roles.PROPOSE, place.project)
    return _rows(place, by).first() or _begin(place, by)


def mine(project: Project, *, by: Actor) -> dict[str, datetime]:
    """The names the person has drafts under, with the time each was kept; an empty name is a new skill."""
    if by.user_id is None:
        return {}
    return dict(Draft.objects.filter(project=project, user_id=by.user_id).values_list("name", "updated_at"))


def state(draft: Draft) -> str:
    """Changes with every keep, so that two windows on one draft cannot overwrite each other unseen."""
    return "" if draft.pk is None else str(round(draft.updated_at.timestamp() * 1_000_000))


@contextmanager
def editing(place: Place, *, by: Actor) -> Iterator[Draft]:
    """One change of a draft. A draft that says what stands already is none, and its row goes."""
    require(by, roles.PROPOSE, place.project)
    try:
        with transaction.atomic():
            draft = _rows(place, by).select_for_update().first()
            if draft is not None and place.seen is not None and place.seen != state(draft):
                raise Stale(
                    "This draft was changed in another window since this page was loaded. Nothing was lost: "
                    "open that one, or keep this one instead.",
                    state=state(draft),
                )
            draft = draft or _begin(place, by)
            yield draft
            if _says_something(draft):
                draft.updated_at = timezone.now()
                draft.save()
            elif draft.pk is not None:
                draft.delete()
    except IntegrityError:
        raise Stale("This draft was begun in another window at the same moment. Keep it again.", state="") from None


def keep(place: Place, typed: Typed, *, by: Actor) -> Draft:
    """Writes down what was typed. Files are kept by `draft_files`."""
    with editing(place, by=by) as draft:
        holding(draft, typed)
    return draft


def holding(draft: Draft, typed: Typed) -> Draft:
    """The draft with what was typed, not stored: for a page that has to be shown again."""
    draft.content = _content(draft.content, typed)
    return draft


def switched(draft: Draft, mode: str) -> Draft:
    """The same draft for the other way of editing; it stays as it is where its header cannot be read."""
    if mode == draft.content["mode"] or mode not in (FORM, RAW):
        return draft
    whole = text(draft)
    fields = skill_form.parse(whole, limits=settings.LIMITS) if mode == FORM else typed_fields(draft)
    draft.content = {**draft.content, "mode": mode, "text": whole, "fields": fields.as_json()}
    return draft


def text(draft: Draft) -> str:
    """The SKILL.md the draft makes; InvalidInput where what was typed cannot be written into its header."""
    held: str = draft.content["text"]
    if draft.content["mode"] == RAW:
        return held
    return skill_form.to_text(held, typed_fields(draft), limits=settings.LIMITS)


def typed_fields(draft: Draft) -> Fields:
    return Fields(**draft.content["fields"])


def bundle(draft: Draft) -> Bundle:
    return Bundle({SKILL_MD: text(draft).encode(), **{entry.path: blobs.read(entry) for entry in draft.manifest}})


def base_bundle(draft: Draft) -> Mapping[str, bytes]:
    """What the edit started from; nothing for a new skill."""
    return {entry.path: blobs.read(entry) for entry in draft.base_manifest}


def next_version(project: Project, name: str) -> str:
    """The version that publishing makes."""
    skill = Skill.objects.filter(project=project, name=normalise(name)).first() if name.strip() else None
    return versions.next_number(skill) if skill else "1"


def publish(place: Place, *, note: str = "", by: Actor) -> skills.Saved:
    """The draft becomes the next version, and is gone. Raises Stale where somebody else saved meanwhile."""
    require_publish(by, place.project)
    draft = _rows(place, by).first()
    if draft is None:
        raise NotFound("There is nothing to publish: the draft says what agents get already.")
    whole = bundle(draft)
    if place.name:
        saved = skills.save(place.project, place.name, whole, base=draft.base or None, note=note, by=by)
    else:
        saved = skills.create(place.project, whole, note=note, by=by)
    _done_with(draft)
    return saved


def propose(place: Place, *, justification: str, by: Actor) -> Proposed:
    """The draft becomes a proposal, and is gone. Raises StaleProposal where somebody else saved meanwhile."""
    require(by, roles.PROPOSE, place.project)
    draft = _rows(place, by).first()
    if draft is None:
        raise NotFound("There is nothing to propose: the draft says what agents get already.")
    whole = bundle(draft)
    gone = {entry.path: None for entry in draft.base_manifest if entry.path not in whole}
    suggestion = Suggestion(
        place.name or bundles.check(whole, authoring=True).name,
        Edit({**gone, **whole}),
        justification,
        kind=UPDATE if draft.base else CREATE,
        base_digest=draft.base,
    )
    made = proposals.propose(place.project, suggestion, by=by)
    _done_with(draft)
    return made


def _done_with(draft: Draft) -> None:
    """What another window kept since is not thrown away with it."""
    Draft.objects.filter(pk=draft.pk, updated_at=draft.updated_at).delete()


def discard(place: Place, *, by: Actor) -> bool:
    require(by, roles.PROPOSE, place.project)
    return bool(_rows(place, by).delete()[0])


def _person(by: Actor) -> int:
    if by.user_id is None:
        raise Forbidden("Drafts belong to people. Save the skill itself.")
    return by.user_id


def _rows(place: Place, by: Actor) -> QuerySet[Draft]:
    return Draft.objects.filter(project=place.project, user_id=_person(by), name=normalise(place.name))


def _begin(place: Place, by: Actor) -> Draft:
    draft = Draft(project=place.project, user_id=_person(by), name=normalise(place.name))
    source = place.name or place.copy_of
    _, loaded = catalog.inspect(place.project, source) if source else (None, None)
    if loaded is None:
        draft.content = _content({}, Typed(FORM, Fields(name=draft.name)))
        return draft
    files, digest = loaded.files, loaded.candidate.digest
    if loaded.on_disk:
        blobs.put(loaded.bundle(), now=timezone.now())
    if place.name and place.base and place.base != digest:
        files, digest = _files_of(place) or files, place.base
    contents = {entry.path: entry for entry in files}
    draft.content = _beginning(blobs.read(contents.pop(SKILL_MD)).decode(), copy=not place.name)
    draft.manifest = in_byte_order(contents.values())
    if place.name:
        draft.base, draft.base_manifest = digest, in_byte_order(files)
    return draft


def _files_of(place: Place) -> tuple[FileEntry, ...]:
    """The files of an older version that a page still shows."""
    older = Version.objects.filter(skill__project=place.project, skill__name=normalise(place.name), digest=place.base)
    found = older.first()
    return found.manifest if found else ()


def _beginning(held: str, *, copy: bool) -> dict[str, Any]:
    try:
        fields = skill_form.parse(held, limits=settings.LIMITS)
    except (InvalidInput, TooLarge):
        return _content({"text": held}, Typed(RAW, text=held))
    if copy:
        fields = Fields(**{**fields.as_json(), "name": ""})
    return _content({"text": held}, Typed(FORM, fields))


def _content(before: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
    """The form leaves the text it started from alone: writing into it again and again would wear it out."""
    held = before.get("text", "")
    if typed.mode == RAW:
        held = skill_form.restore_line_endings(held, _storable(typed.text))
    fields = {key: _storable(value) for key, value in typed.fields.as_json().items()}
    return {"mode": typed.mode, "text": held, "fields": fields, "note": _storable(typed.note)}


def _storable(value: str) -> str:
    """PostgreSQL holds no NUL in JSON, and nobody can type one."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _says_something(draft: Draft) -> bool:
    """Whether it differs from what stands: also a page that keeps once more what was just published says nothing."""
    form = draft.content["mode"] == FORM
    blank = typed_fields(draft).empty if form else not draft.content["text"].strip()
    if not draft.name and blank and not draft.manifest:
        return False
    try:
        content = text(draft).encode()
        name = draft.name or skill_form.parse(content.decode(), limits=settings.LIMITS).name
    except SkillsiteError:
        return True
    standing = catalog.find(draft.project_id, name) if name else None
    entries = [*draft.manifest, FileEntry(SKILL_MD, len(content), content_digest(content))]
    return standing is None or standing.winner is None or standing.winner.digest != bundle_digest(entries)
