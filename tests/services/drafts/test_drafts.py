"""Drafts belong to one person, hold any input, and are invisible to others until they are published."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import (
    AlreadyExists,
    Forbidden,
    InvalidInput,
    InvalidRequest,
    InvalidSkill,
    NotFound,
    Stale,
    StaleProposal,
    TooLarge,
)
from registry.core.format import skill_form
from registry.core.format.skill_form import Fields
from registry.core.limits import Limits
from registry.models import Draft, Event, Project, Proposal, Skill, User, Version
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.drafts import conflicts, draft_checks, draft_files, drafts
from registry.services.drafts.drafts import FORM, RAW, Place, Typed
from registry.services.files import blobs
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, delete_skill, save_skill

GOOD = Fields(
    name="tea-round",
    description="Makes a round of tea. Use when somebody asks for tea.",
    instructions="# Tea\n\nBoil water.",
)


def typed(fields: Fields = GOOD, **changed: str) -> Typed:
    return Typed(FORM, Fields(**{**fields.as_json(), **changed}))


@pytest.fixture
def standing(project: Project, author: Actor) -> Place:
    """A skill of the project with one file, at version 1."""
    bundle = skill_bundle("greeting", {"references/names.md": b"Ada\n", "assets/logo.bin": b"\0\1"})
    saved = create_skill(project, bundle, by=author)
    return Place(project, "greeting", base=saved.version.digest)


@pytest.fixture
def colleague(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person("reviewer"), project)


# -- Access -----------------------------------------------------------------------------------------------------------


def test_a_viewer_may_write_a_draft_and_propose_it_but_never_publish(project: Project, viewer: Actor) -> None:
    drafts.save(Place(project), typed(), by=viewer)
    with pytest.raises(Forbidden):
        drafts.publish(Place(project), by=viewer)
    assert not Version.objects.exists()
    made = drafts.propose(Place(project), justification="It is missing.", by=viewer).proposal
    assert (made.kind, made.user_id, made.state) == ("create", viewer.user_id, "open")
    assert not Draft.objects.exists()
    assert not Version.objects.exists()


def test_proposing_an_unchanged_draft_is_refused(project: Project, viewer: Actor) -> None:
    with pytest.raises(NotFound, match="nothing to propose"):
        drafts.propose(Place(project), justification="Why not.", by=viewer)


def test_a_draft_without_a_reason_stays_a_draft(project: Project, viewer: Actor) -> None:
    drafts.save(Place(project), typed(), by=viewer)
    with pytest.raises(InvalidRequest, match="justification is missing"):
        drafts.propose(Place(project), justification=" ", by=viewer)
    assert Draft.objects.exists()
    assert not Proposal.objects.exists()


def test_a_reader_has_no_drafts(project: Project, viewer: Actor) -> None:
    reader = replace(viewer, scopes=frozenset({roles.READ}))
    for verb in (drafts.find, drafts.publish, drafts.discard, conflicts.find):
        with pytest.raises(Forbidden):
            verb(Place(project), by=reader)
    with pytest.raises(Forbidden):
        drafts.propose(Place(project), justification="Why.", by=reader)
    with pytest.raises(Forbidden):
        drafts.save(Place(project), typed(), by=reader)
    with pytest.raises(Forbidden):
        draft_files.add(Place(project), {"a.md": b"x"}, by=reader)
    assert not Draft.objects.exists()


def test_an_operator_without_an_account_has_no_drafts(project: Project, operator: Actor) -> None:
    with pytest.raises(Forbidden):
        drafts.save(Place(project), typed(), by=operator)


def test_a_member_of_another_project_sees_no_draft(other_project: Project, author: Actor) -> None:
    with pytest.raises(NotFound):
        drafts.save(Place(other_project), typed(), by=author)


def test_a_colleague_never_sees_the_draft(project: Project, author: Actor, colleague: Actor) -> None:
    drafts.save(Place(project), typed(), by=author)
    assert not Draft.objects.filter(user_id=colleague.user_id).exists()
    assert drafts.find(Place(project), by=colleague).pk is None
    assert not drafts.discard(Place(project), by=colleague)
    with pytest.raises(NotFound):
        drafts.publish(Place(project), by=colleague)


# -- Saving ------------------------------------------------------------------------------------------------------------


def test_opening_stores_nothing_and_saving_is_not_audited(project: Project, author: Actor) -> None:
    project.refresh_from_db()
    before = project.revision, Event.objects.count()
    drafts.find(Place(project), by=author)
    assert not Draft.objects.exists()
    drafts.save(Place(project), typed(), by=author)
    project.refresh_from_db()
    assert (project.revision, Event.objects.count()) == before
    assert catalog.find(project.pk, "tea-round") is None
    assert [draft.name for draft in Draft.objects.filter(user_id=author.user_id)] == [""]


@pytest.mark.parametrize(
    "what",
    [
        Typed(FORM, Fields(name="Not A Name!!", description="")),
        Typed(RAW, text="no header at all"),
        Typed(RAW, text="---\nname: a\nname: b\n---\n"),
        Typed(FORM, Fields(description="x" * 5_000)),
        Typed(RAW, text="nul \0 inside"),
    ],
)
def test_an_invalid_draft_is_saved_with_findings(project: Project, author: Actor, what: Typed) -> None:
    draft = drafts.save(Place(project), what, by=author)
    again = drafts.find(Place(project), by=author)
    assert again.pk == draft.pk
    assert again.content["fields"]["name"] == what.fields.name
    assert any(finding.severity == "error" for finding in draft_checks.check(project, again).findings)
    with pytest.raises(InvalidInput):
        drafts.publish(Place(project), by=author)
    assert Draft.objects.count() == 1
    assert not Skill.objects.exists()


def test_a_draft_equal_to_the_current_skill_is_deleted(standing: Place, author: Actor) -> None:
    shown = drafts.typed_fields(drafts.find(standing, by=author))
    drafts.save(standing, Typed(FORM, shown), by=author)
    assert not Draft.objects.exists()
    drafts.save(standing, typed(shown, description="Other. Use when asked."), by=author)
    assert Draft.objects.count() == 1
    drafts.save(standing, Typed(FORM, shown), by=author)
    assert not Draft.objects.exists()


def test_a_late_save_after_publishing_leaves_no_draft(project: Project, author: Actor) -> None:
    drafts.save(Place(project), typed(), by=author)
    drafts.publish(Place(project), by=author)
    drafts.save(Place(project), typed(), by=author)
    assert not Draft.objects.exists()


def test_a_second_window_cannot_overwrite_the_first(project: Project, author: Actor) -> None:
    first = drafts.save(Place(project, seen=""), typed(), by=author)
    with pytest.raises(Stale):
        drafts.save(Place(project, seen=""), typed(name="other"), by=author)
    assert drafts.typed_fields(drafts.find(Place(project), by=author)).name == "tea-round"
    drafts.save(Place(project, seen=drafts.state(first)), typed(name="newer"), by=author)
    drafts.save(Place(project, seen=None), typed(name="forced"), by=author)
    assert drafts.typed_fields(drafts.find(Place(project), by=author)).name == "forced"


def test_switching_keeps_comments_and_unknown_keys(standing: Place, author: Actor) -> None:
    odd = '---\n# mine\nname: greeting\ndescription: "Says hello. Use when asked."\nx-team: ops\n---\n\nHello.\n'
    draft = drafts.save(standing, Typed(RAW, text=odd.replace("\n", "\r\n")), by=author)
    draft = drafts.set_mode(draft, FORM)
    assert drafts.typed_fields(draft).description == "Says hello. Use when asked."
    assert drafts.text(drafts.set_mode(draft, RAW)) == odd


def test_a_text_with_an_invalid_header_has_no_form(standing: Place, author: Actor) -> None:
    draft = drafts.save(standing, Typed(RAW, text="---\nname: [\n---\n"), by=author)
    with pytest.raises(InvalidSkill) as refused:
        drafts.set_mode(draft, FORM)
    assert refused.value.findings[0].line


def test_a_copy_has_the_files_and_no_name(standing: Place, author: Actor) -> None:
    draft = drafts.find(Place(standing.project, copy_of="greeting"), by=author)
    assert drafts.typed_fields(draft).name == ""
    assert [entry.path for entry in draft.manifest] == ["assets/logo.bin", "references/names.md"]
    assert draft.base == ""


def test_a_missing_skill_cannot_be_edited(project: Project, author: Actor) -> None:
    with pytest.raises(NotFound):
        drafts.find(Place(project, "nothing"), by=author)


# -- Findings ------------------------------------------------------------------------------------------------------


def rules_of(project: Project, draft: Draft) -> dict[str, str]:
    return {finding.rule: finding.severity for finding in draft_checks.check(project, draft).findings}


def test_an_empty_form_asks_for_name_and_description(project: Project, author: Actor) -> None:
    found = rules_of(project, drafts.find(Place(project), by=author))
    assert {"name-missing", "description-missing"} <= set(found)
    assert "name-pattern" not in found


def test_a_taken_name_is_a_finding(standing: Place, library: Path, author: Actor) -> None:
    on_disk(library, "bundled-one")
    project = standing.project
    draft = drafts.save(Place(project), typed(name="Greeting"), by=author)
    assert rules_of(project, draft)["name-taken"] == "error"
    with pytest.raises(InvalidSkill):  # the capital letter is an error too
        drafts.publish(Place(project), by=author)
    draft = drafts.save(Place(project), typed(name="greeting"), by=author)
    with pytest.raises(AlreadyExists):
        drafts.publish(Place(project), by=author)
    draft = drafts.save(Place(project), typed(name="bundled-one"), by=author)
    assert rules_of(project, draft)["name-hides-bundled"] == "hint"


def test_a_name_changed_in_code_mode_is_refused(standing: Place, author: Actor) -> None:
    draft = drafts.save(standing, Typed(RAW, text=skill_text("elsewhere")), by=author)
    assert rules_of(standing.project, draft)["name-directory"] == "error"
    with pytest.raises(InvalidSkill):
        drafts.publish(standing, by=author)


def test_an_automatic_fix_removes_its_finding(project: Project, author: Actor) -> None:
    text = skill_text("tea-round").replace("---\n", "---\ntags: a, b\n", 1)
    place = Place(project)
    draft = drafts.save(place, Typed(RAW, text=text), by=author)
    finding = next(f for f in draft_checks.check(project, draft).findings if f.rule == "frontmatter-key-place")
    draft_checks.fix(place, "no-such-rule", 1, by=author)
    mended = draft_checks.fix(place, finding.rule, finding.line, by=author)
    assert "frontmatter-key-place" not in rules_of(project, mended)
    assert 'tags: "a, b"' in drafts.text(mended)


# -- Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../up.md", "/etc/passwd", "a\\b", "SKILL.md", "deep/skill.md", "", "con.txt"])
def test_an_unsafe_path_is_refused_and_nothing_is_saved(project: Project, author: Actor, path: str) -> None:
    with pytest.raises(InvalidInput):
        draft_files.add(Place(project), {"fine.md": b"x", path: b"y"}, by=author)
    with pytest.raises(InvalidInput):
        draft_files.create(Place(project), path, by=author)
    assert not Draft.objects.exists()


def test_limits_name_both_numbers(project: Project, author: Actor, settings: object) -> None:
    settings.LIMITS = Limits(file_bytes=10, files=3, expanded_bytes=25)  # type: ignore[attr-defined]
    with pytest.raises(TooLarge, match=r"11 bytes\. 10 are allowed"):
        draft_files.add(Place(project), {"a.md": b"x" * 11}, by=author)
    with pytest.raises(TooLarge, match=r"4 files\. 3 are allowed"):
        draft_files.add(Place(project), {f"{n}.md": b"x" for n in range(3)}, by=author)
    settings.LIMITS = Limits(file_bytes=20, files=9, expanded_bytes=25)  # type: ignore[attr-defined]
    with pytest.raises(TooLarge, match=r"30 bytes together\. 25 are allowed"):
        draft_files.add(Place(project), {"a.md": b"x" * 15, "b.md": b"y" * 15}, by=author)
    assert not Draft.objects.exists()


def test_paths_that_differ_only_in_case_are_refused(project: Project, author: Actor) -> None:
    with pytest.raises(InvalidInput):
        draft_files.add(Place(project), {"docs/a.md": b"x", "Docs/b.md": b"y"}, by=author)


def test_files_are_added_renamed_removed_and_restored(standing: Place, author: Actor) -> None:
    draft_files.add(standing, {"scripts/run.py": b"print()\n"}, by=author)
    draft_files.rename(standing, "scripts/run.py", "scripts/go.py", by=author)
    with pytest.raises(AlreadyExists):
        draft_files.rename(standing, "scripts/go.py", "references/names.md", by=author)
    with pytest.raises(NotFound):
        draft_files.remove(standing, "scripts/run.py", by=author)
    draft = draft_files.remove(standing, "references/names.md", by=author)
    assert [entry.path for entry in draft_files.removed(draft)] == ["references/names.md"]
    draft = draft_files.restore(standing, "references/names.md", by=author)
    assert [entry.path for entry in draft.manifest] == ["assets/logo.bin", "references/names.md", "scripts/go.py"]
    with pytest.raises(NotFound):
        draft_files.restore(standing, "assets/logo.bin", by=author)


def test_editing_a_text_file_keeps_its_line_endings(project: Project, author: Actor) -> None:
    draft_files.add(Place(project), {"a.txt": b"one\r\ntwo\r\n"}, by=author)
    draft = draft_files.write_text(Place(project), "a.txt", "one\r\ntwo and\r\n", by=author)
    assert blobs.read(draft.manifest[0]) == b"one\r\ntwo and\r\n"


def test_a_binary_file_has_no_text(standing: Place, author: Actor) -> None:
    logo, names = drafts.find(standing, by=author).manifest
    assert draft_files.text_of(logo) is None
    assert draft_files.text_of(names) == "Ada\n"


def test_the_clean_up_keeps_the_files_of_drafts(project: Project, author: Actor) -> None:
    from django.utils import timezone

    draft_files.add(Place(project), {"a.txt": b"waiting"}, by=author)
    assert list(blobs.orphans(now=timezone.now())) == []
    drafts.discard(Place(project), by=author)
    assert [orphan.size for orphan in blobs.orphans(now=timezone.now())] == [7]


# -- Publishing ---------------------------------------------------------------------------------------------------


def test_publishing_creates_the_announced_version(project: Project, author: Actor) -> None:
    drafts.save(Place(project), typed(), by=author)
    draft_files.add(Place(project), {"references/cups.md": b"Six.\n"}, by=author)
    assert drafts.next_version(project, "tea-round") == "1"
    saved = drafts.publish(Place(project), note="First cups", by=author)
    assert (saved.version.version, saved.version.note) == ("1", "First cups")
    assert not Draft.objects.exists()
    assert catalog.load(project.pk, "tea-round").bundle()["references/cups.md"] == b"Six.\n"
    assert drafts.next_version(project, "tea-round") == "2"


def test_publishing_without_a_draft_is_refused(standing: Place, author: Actor) -> None:
    with pytest.raises(NotFound):
        drafts.publish(standing, by=author)


def test_a_note_that_is_too_long_is_refused_and_the_draft_stays(project: Project, author: Actor) -> None:
    drafts.save(Place(project), typed(), by=author)
    with pytest.raises(InvalidInput, match=r"301 characters\. 300 are allowed"):
        drafts.publish(Place(project), note="x" * 301, by=author)
    assert Draft.objects.count() == 1


def test_publishing_an_edit_of_a_built_in_skill_customises_it_with_its_files(
    project: Project, library: Path, author: Actor
) -> None:
    on_disk(library, "greeting", {"references/names.md": b"Ada\n"})
    place = Place(project, "greeting")
    shown = drafts.find(place, by=author)
    drafts.save(place, typed(drafts.typed_fields(shown), instructions="Ours."), by=author)
    bundled = catalog.get(project.pk, "greeting").winner
    drafts.publish(place, by=author)
    mine = catalog.load(project.pk, "greeting")
    assert (mine.candidate.source, mine.bundle()["references/names.md"]) == ("project", b"Ada\n")
    row = Skill.objects.get(project=project, name="greeting")
    assert bundled is not None
    assert (row.upstream_digest, row.upstream_version) == (bundled.digest, bundled.version)
    assert blobs.bundle(row.upstream_manifest).digest == bundled.digest


# -- Conflicts ----------------------------------------------------------------------------------------------------


def save_as(place: Place, who: Actor, changes: dict[str, bytes | None]) -> None:
    current = catalog.load(place.project.pk, place.name)
    changed = current.bundle().with_changes(changes)
    save_skill(place.project, place.name, changed, base=current.candidate.digest, by=who)


BODY = "# Greeting\n\nSay hello.\n\n- one\n- two\n- three\n\nEnd.\n"


def text_with(**replaced: str) -> bytes:
    body = BODY
    for old, new in replaced.items():
        body = body.replace(old, new)
    return skill_text("greeting", body=body).encode()


@pytest.fixture
def both_wrote(standing: Place, author: Actor, colleague: Actor) -> Place:
    """Both changed line `one`; the colleague changed `End`, the author `hello` and a file."""
    save_as(standing, author, {SKILL_MD: text_with()})
    place = Place(standing.project, "greeting")
    drafts.save(place, Typed(RAW, text=text_with(one="mine", hello="good morning").decode()), by=author)
    draft_files.add(place, {"references/names.md": b"Grace\n"}, by=author)
    save_as(place, colleague, {SKILL_MD: text_with(one="theirs", End="The end")})
    return place


def test_a_version_saved_in_the_meantime_stops_publishing_and_keeps_the_draft(both_wrote: Place, author: Actor) -> None:
    with pytest.raises(Stale):
        drafts.publish(both_wrote, by=author)
    assert Draft.objects.count() == 1
    seen = conflicts.find(both_wrote, by=author)
    assert seen.author == "reviewer"
    (file,) = seen.merge.open
    (choice,) = file.choices
    assert (choice.block.base, choice.block.theirs, choice.block.mine) == ("- one\n", "- theirs\n", "- mine\n")
    assert seen.merge.settled["references/names.md"] == b"Grace\n"


@pytest.mark.parametrize(("answer", "line"), [("theirs", "- theirs"), ("mine", "- mine"), ("", "- mine")])
def test_resolved_conflicts_become_the_draft_and_can_be_published(
    both_wrote: Place, author: Actor, answer: str, line: str
) -> None:
    seen = conflicts.find(both_wrote, by=author)
    key = seen.merge.open[0].choices[0].key
    conflicts.resolve(both_wrote, {key: answer}, theirs=seen.digest, by=author)
    drafts.publish(both_wrote, by=author)
    text = catalog.load(both_wrote.project.pk, "greeting").bundle()[SKILL_MD].decode()
    assert line in text
    assert "good morning" in text
    assert "The end" in text


def test_old_answers_do_not_overwrite_another_save(both_wrote: Place, author: Actor, colleague: Actor) -> None:
    seen = conflicts.find(both_wrote, by=author)
    save_as(both_wrote, colleague, {SKILL_MD: text_with(one="again")})
    before = drafts.text(drafts.find(both_wrote, by=author))
    with pytest.raises(Stale):
        conflicts.resolve(both_wrote, {}, theirs=seen.digest, by=author)
    assert drafts.text(drafts.find(both_wrote, by=author)) == before


def test_a_binary_file_changed_on_both_sides_needs_a_choice(standing: Place, author: Actor, colleague: Actor) -> None:
    place = Place(standing.project, "greeting")
    draft_files.add(place, {"assets/logo.bin": b"\0mine"}, by=author)
    draft_files.remove(place, "references/names.md", by=author)
    save_as(place, colleague, {"assets/logo.bin": b"\0theirs", "references/names.md": b"Bob\n"})
    seen = conflicts.find(place, by=author)
    assert [file.path for file in seen.merge.open if file.whole] == ["assets/logo.bin", "references/names.md"]
    answers = {file.whole: "theirs" for file in seen.merge.open if file.path == "assets/logo.bin"}
    conflicts.resolve(place, answers, theirs=seen.digest, by=author)
    drafts.publish(place, by=author)
    stored = catalog.load(place.project.pk, "greeting").bundle()
    assert stored["assets/logo.bin"] == b"\0theirs"
    assert "references/names.md" not in stored


def test_a_skill_deleted_in_the_meantime_can_be_published_again(
    standing: Place, author: Actor, colleague: Actor
) -> None:
    place = Place(standing.project, "greeting")
    drafts.save(place, Typed(RAW, text=text_with(one="kept").decode()), by=author)
    delete_skill(place.project, "greeting", by=colleague)
    with pytest.raises(Stale):
        drafts.publish(place, by=author)
    seen = conflicts.find(place, by=author)
    assert (seen.theirs, seen.merge.open) == (None, ())
    conflicts.resolve(place, {}, theirs="", by=author)
    drafts.publish(place, by=author)
    assert b"kept" in catalog.load(place.project.pk, "greeting").bundle()[SKILL_MD]


def test_there_is_no_conflict_if_nobody_else_saved(standing: Place, author: Actor) -> None:
    drafts.save(standing, Typed(RAW, text=text_with().decode()), by=author)
    with pytest.raises(NotFound):
        conflicts.find(standing, by=author)


def test_a_page_of_an_older_version_starts_its_draft_from_that_version(
    standing: Place, author: Actor, colleague: Actor
) -> None:
    old = drafts.typed_fields(drafts.find(standing, by=author))
    save_as(standing, colleague, {SKILL_MD: text_with()})
    draft = drafts.save(standing, typed(old, description="Mine. Use when asked."), by=author)
    assert draft.base == standing.base
    assert Bundle(drafts.base_bundle(draft)).digest == standing.base
    with pytest.raises(Stale):
        drafts.publish(standing, by=author)


def test_fields_survive_a_round_trip_through_the_row(project: Project, author: Actor) -> None:
    every = Fields(**{key: f"{key} x" for key in Fields().as_json() if key != "kind"}, kind="knowledge")
    drafts.save(Place(project), Typed(FORM, every), by=author)
    assert drafts.typed_fields(drafts.find(Place(project), by=author)) == every
    assert skill_form.parse(drafts.text(drafts.find(Place(project), by=author))).name == "name x"


# -- Proposing --------------------------------------------------------------------------------------------------------


def test_a_proposed_draft_includes_its_files_and_its_base(standing: Place, viewer: Actor) -> None:
    draft_files.remove(standing, "references/names.md", by=viewer)
    draft_files.add(standing, {"references/more.md": b"More.\n"}, by=viewer)
    made = drafts.propose(standing, justification="Names are elsewhere.", by=viewer).proposal
    revision = made.revisions.get()
    assert (made.kind, made.skill, made.base_digest) == ("update", "greeting", standing.base)
    assert [entry.path for entry in revision.result_manifest] == ["SKILL.md", "assets/logo.bin", "references/more.md"]
    assert catalog.load(standing.project.pk, "greeting").candidate.digest == standing.base


def test_a_draft_of_a_skill_saved_in_the_meantime_is_not_proposed(
    standing: Place, viewer: Actor, colleague: Actor
) -> None:
    draft_files.remove(standing, "references/names.md", by=viewer)
    save_skill(standing.project, "greeting", skill_bundle(body="Newer."), base=standing.base, by=colleague)
    with pytest.raises(StaleProposal):
        drafts.propose(standing, justification="Names are elsewhere.", by=viewer)
    assert Draft.objects.exists()
    assert not Proposal.objects.exists()


def test_in_a_protected_project_a_draft_is_proposed_and_not_published(standing: Place, author: Actor) -> None:
    Project.objects.update(protected=True)
    draft_files.remove(standing, "references/names.md", by=author)
    with pytest.raises(Forbidden, match="Propose the change instead"):
        drafts.publish(standing, by=author)
    assert drafts.propose(standing, justification="Names are elsewhere.", by=author).proposal.state == "open"
    assert Version.objects.count() == 1
