"""Drafts belong to one person, hold any input, and are invisible to others until they are published."""

from dataclasses import replace
from pathlib import Path

import pytest

from registry.core import roles
from registry.core.errors import Forbidden, InvalidInput, InvalidRequest, InvalidSkill, NotFound, Stale, StaleProposal
from registry.core.format import skill_form
from registry.core.format.skill_form import Fields
from registry.models import Draft, Event, Project, Proposal, Skill, Version
from registry.services.catalog import catalog
from registry.services.drafts import conflicts, draft_checks, draft_files, drafts
from registry.services.drafts.drafts import FORM, RAW, Place, Typed
from registry.services.files import blobs
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import save_skill
from tests.services.drafts.typed import typed

# -- Access --------------------------------------------------------------------------------------------------------


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


# -- Saving --------------------------------------------------------------------------------------------------------


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


def test_a_draft_equal_to_the_current_skill_is_deleted(existing: Place, author: Actor) -> None:
    shown = drafts.typed_fields(drafts.find(existing, by=author))
    drafts.save(existing, Typed(FORM, shown), by=author)
    assert not Draft.objects.exists()
    drafts.save(existing, typed(shown, description="Other. Use when asked."), by=author)
    assert Draft.objects.count() == 1
    drafts.save(existing, Typed(FORM, shown), by=author)
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


def test_switching_keeps_comments_and_unknown_keys(existing: Place, author: Actor) -> None:
    odd = '---\n# mine\nname: greeting\ndescription: "Says hello. Use when asked."\nx-team: ops\n---\n\nHello.\n'
    draft = drafts.save(existing, Typed(RAW, text=odd.replace("\n", "\r\n")), by=author)
    draft = drafts.set_mode(draft, FORM)
    assert drafts.typed_fields(draft).description == "Says hello. Use when asked."
    assert drafts.text(drafts.set_mode(draft, RAW)) == odd


def test_a_text_with_an_invalid_header_has_no_form(existing: Place, author: Actor) -> None:
    draft = drafts.save(existing, Typed(RAW, text="---\nname: [\n---\n"), by=author)
    with pytest.raises(InvalidSkill) as refused:
        drafts.set_mode(draft, FORM)
    assert refused.value.findings[0].line


def test_a_copy_has_the_files_and_no_name(existing: Place, author: Actor) -> None:
    draft = drafts.find(Place(existing.project, copy_of="greeting"), by=author)
    assert drafts.typed_fields(draft).name == ""
    assert [entry.path for entry in draft.manifest] == ["assets/logo.bin", "references/names.md"]
    assert draft.base == ""


def test_a_missing_skill_cannot_be_edited(project: Project, author: Actor) -> None:
    with pytest.raises(NotFound):
        drafts.find(Place(project, "nothing"), by=author)


def test_fields_survive_a_round_trip_through_the_row(project: Project, author: Actor) -> None:
    every = Fields(**{key: f"{key} x" for key in Fields().as_json() if key != "kind"}, kind="knowledge")
    drafts.save(Place(project), Typed(FORM, every), by=author)
    assert drafts.typed_fields(drafts.find(Place(project), by=author)) == every
    assert skill_form.parse(drafts.text(drafts.find(Place(project), by=author))).name == "name x"


# -- Publishing ----------------------------------------------------------------------------------------------------


def test_publishing_creates_the_announced_version(project: Project, author: Actor) -> None:
    drafts.save(Place(project), typed(), by=author)
    draft_files.add(Place(project), {"references/cups.md": b"Six.\n"}, by=author)
    assert drafts.next_version(project, "tea-round") == "1"
    saved = drafts.publish(Place(project), note="First cups", by=author)
    assert (saved.version.version, saved.version.note) == ("1", "First cups")
    assert not Draft.objects.exists()
    assert catalog.load(project.pk, "tea-round").bundle()["references/cups.md"] == b"Six.\n"
    assert drafts.next_version(project, "tea-round") == "2"


def test_publishing_without_a_draft_is_refused(existing: Place, author: Actor) -> None:
    with pytest.raises(NotFound):
        drafts.publish(existing, by=author)


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


# -- Proposing -----------------------------------------------------------------------------------------------------


def test_a_proposed_draft_includes_its_files_and_its_base(existing: Place, viewer: Actor) -> None:
    draft_files.remove(existing, "references/names.md", by=viewer)
    draft_files.add(existing, {"references/more.md": b"More.\n"}, by=viewer)
    made = drafts.propose(existing, justification="Names are elsewhere.", by=viewer).proposal
    revision = made.revisions.get()
    assert (made.kind, made.skill, made.base_digest) == ("update", "greeting", existing.base)
    assert [entry.path for entry in revision.result_manifest] == ["SKILL.md", "assets/logo.bin", "references/more.md"]
    assert catalog.load(existing.project.pk, "greeting").candidate.digest == existing.base


def test_a_draft_of_a_skill_saved_in_the_meantime_is_not_proposed(
    existing: Place, viewer: Actor, colleague: Actor
) -> None:
    draft_files.remove(existing, "references/names.md", by=viewer)
    save_skill(existing.project, "greeting", skill_bundle(body="Newer."), base=existing.base, by=colleague)
    with pytest.raises(StaleProposal):
        drafts.propose(existing, justification="Names are elsewhere.", by=viewer)
    assert Draft.objects.exists()
    assert not Proposal.objects.exists()


def test_in_a_protected_project_a_draft_is_proposed_and_not_published(existing: Place, author: Actor) -> None:
    Project.objects.update(protected=True)
    draft_files.remove(existing, "references/names.md", by=author)
    with pytest.raises(Forbidden, match="Propose the change instead"):
        drafts.publish(existing, by=author)
    assert drafts.propose(existing, justification="Names are elsewhere.", by=author).proposal.state == "open"
    assert Version.objects.count() == 1
