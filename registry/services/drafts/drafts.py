"""Drafts: one person's unpublished edit of a skill.

A draft holds what was typed, valid or not. Only its author sees it, so saving a draft is not audited and does not
change the project's revision. `publish` and `propose` are, through `skills` and `proposals`. Everybody who may propose
may have drafts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    """Input of the editor page: the fields of the form, or the whole SKILL.md."""

    mode: str
    fields: Fields = field(default_factory=Fields)
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The draft of an editor page, and the state that page was rendered from.

    `name` is empty for a new skill; `copy_of` then names the skill it started as a copy of. `base` is the digest of the
    skill on the page. `seen` is the state of the draft on the page; None overwrites any state.
    """

    project: Project
    name: str = ""
    copy_of: str = ""
    base: str = ""
    seen: str | None = None


def find(place: Place, *, by: Actor) -> Draft:
    """Return the person's draft, or an unsaved new one."""
    require(by, roles.PROPOSE, place.project)
    return _rows(place, by).first() or _new(place, by)


def state(draft: Draft) -> str:
    """Return a token that changes with every save, so that two windows cannot overwrite each other."""
    return "" if draft.pk is None else str(round(draft.updated_at.timestamp() * 1_000_000))


@contextmanager
def editing(place: Place, *, by: Actor) -> Iterator[Draft]:
    """Lock the draft, and save it after the block. A draft equal to the current skill is deleted."""
    require(by, roles.PROPOSE, place.project)
    try:
        with transaction.atomic():
            draft = _rows(place, by).select_for_update().first()
            if draft is not None and place.seen is not None and place.seen != state(draft):
                raise Stale(
                    "You changed this draft in another window since this page was loaded. Nothing is lost: "
                    "open the other draft, or save this one instead.",
                    state=state(draft),
                )
            draft = draft or _new(place, by)
            yield draft
            if _differs(draft):
                draft.updated_at = timezone.now()
                draft.save()
            elif draft.pk is not None:
                draft.delete()
    except IntegrityError:
        raise Stale("You started this draft in another window at the same time. Save it again.", state="") from None


def save(place: Place, typed: Typed, *, by: Actor) -> Draft:
    """Save what was typed. `draft_files` saves the files."""
    with editing(place, by=by) as draft:
        set_typed(draft, typed)
    return draft


def set_typed(draft: Draft, typed: Typed) -> Draft:
    """Set what was typed without saving, for a page that is shown again."""
    draft.content = _content(draft.content, typed)
    return draft


def set_mode(draft: Draft, mode: str) -> Draft:
    """Convert the draft between form and code. Raise InvalidInput if its frontmatter cannot be parsed."""
    if mode == draft.content["mode"] or mode not in (FORM, RAW):
        return draft
    source = text(draft)
    fields = skill_form.parse(source, limits=settings.LIMITS) if mode == FORM else typed_fields(draft)
    draft.content = {**draft.content, "mode": mode, "text": source, "fields": fields.as_json()}
    return draft


def text(draft: Draft) -> str:
    """Return the draft's SKILL.md. Raise InvalidInput if the fields cannot be written into its frontmatter."""
    source: str = draft.content["text"]
    if draft.content["mode"] == RAW:
        return source
    return skill_form.to_text(source, typed_fields(draft), limits=settings.LIMITS)


def typed_fields(draft: Draft) -> Fields:
    return Fields(**draft.content["fields"])


def bundle(draft: Draft) -> Bundle:
    return Bundle({SKILL_MD: text(draft).encode(), **{entry.path: blobs.read(entry) for entry in draft.manifest}})


def base_bundle(draft: Draft) -> Mapping[str, bytes]:
    """Return the files the edit started from; none for a new skill."""
    return {entry.path: blobs.read(entry) for entry in draft.base_manifest}


def next_version(project: Project, name: str) -> str:
    """Return the version that publishing creates."""
    skill = Skill.objects.filter(project=project, name=normalise(name)).first() if name.strip() else None
    return versions.next_number(skill) if skill else "1"


def publish(place: Place, *, note: str = "", gate_reason: str = "", by: Actor) -> skills.Saved:
    """Publish the draft as the next version and delete it. Raise Stale if somebody else saved in the meantime."""
    require_publish(by, place.project)
    draft = _rows(place, by).first()
    if draft is None:
        raise NotFound("There is nothing to publish: agents already get exactly this.")
    content = bundle(draft)
    if place.name:
        saved = skills.save(
            place.project, place.name, content, base=draft.base or None, note=note, gate_reason=gate_reason, by=by
        )
    else:
        saved = skills.create(place.project, content, note=note, gate_reason=gate_reason, by=by)
    _delete_unless_changed(draft)
    return saved


def propose(place: Place, *, justification: str, by: Actor) -> Proposed:
    """Turn the draft into a proposal and delete it. Raise StaleProposal if somebody else saved in the meantime."""
    require(by, roles.PROPOSE, place.project)
    draft = _rows(place, by).first()
    if draft is None:
        raise NotFound("There is nothing to propose: agents already get exactly this.")
    content = bundle(draft)
    removed = {entry.path: None for entry in draft.base_manifest if entry.path not in content}
    suggestion = Suggestion(
        place.name or bundles.check(content, authoring=True).name,
        Edit({**removed, **content}),
        justification,
        kind=UPDATE if draft.base else CREATE,
        base_digest=draft.base,
    )
    proposed = proposals.propose(place.project, suggestion, by=by)
    _delete_unless_changed(draft)
    return proposed


def _delete_unless_changed(draft: Draft) -> None:
    # Another window may have saved the draft in the meantime. That text must survive.
    Draft.objects.filter(pk=draft.pk, updated_at=draft.updated_at).delete()


def discard(place: Place, *, by: Actor) -> bool:
    require(by, roles.PROPOSE, place.project)
    return bool(_rows(place, by).delete()[0])


def _person(by: Actor) -> int:
    if by.user_id is None:
        raise Forbidden("Only people have drafts. Save the skill instead.")
    return by.user_id


def _rows(place: Place, by: Actor) -> QuerySet[Draft]:
    return Draft.objects.filter(project=place.project, user_id=_person(by), name=normalise(place.name))


def _new(place: Place, by: Actor) -> Draft:
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
    draft.content = _first_content(blobs.read(contents.pop(SKILL_MD)).decode(), copy=not place.name)
    draft.manifest = in_byte_order(contents.values())
    if place.name:
        draft.base, draft.base_manifest = digest, in_byte_order(files)
    return draft


def _files_of(place: Place) -> tuple[FileEntry, ...]:
    """Return the files of the older version that the page still shows."""
    name = normalise(place.name)
    older = Version.objects.filter(skill__project=place.project, skill__name=name, digest=place.base).first()
    return older.manifest if older else ()


def _first_content(source: str, *, copy: bool) -> dict[str, Any]:
    try:
        fields = skill_form.parse(source, limits=settings.LIMITS)
    except (InvalidInput, TooLarge):
        return _content({"text": source}, Typed(RAW, text=source))
    if copy:
        fields = Fields(**{**fields.as_json(), "name": ""})
    return _content({"text": source}, Typed(FORM, fields))


def _content(before: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
    """Return the JSON of a draft. In form mode the text stays as it was, so that rewriting it never adds up."""
    source = before.get("text", "")
    if typed.mode == RAW:
        source = skill_form.restore_line_endings(source, _storable(typed.text))
    fields = {key: _storable(value) for key, value in typed.fields.as_json().items()}
    return {"mode": typed.mode, "text": source, "fields": fields, "note": _storable(typed.note)}


def _storable(value: str) -> str:
    """Replace NUL characters, which PostgreSQL cannot store in JSON."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _differs(draft: Draft) -> bool:
    """Tell whether the draft differs from the current skill. A late save of published text does not."""
    form = draft.content["mode"] == FORM
    blank = typed_fields(draft).empty if form else not draft.content["text"].strip()
    if not draft.name and blank and not draft.manifest:
        return False
    try:
        content = text(draft).encode()
        name = draft.name or skill_form.parse(content.decode(), limits=settings.LIMITS).name
    except SkillsiteError:
        return True
    effective = catalog.find(draft.project_id, name) if name else None
    entries = [*draft.manifest, FileEntry(SKILL_MD, len(content), content_digest(content))]
    return effective is None or effective.winner is None or effective.winner.digest != bundle_digest(entries)
