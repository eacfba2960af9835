"""Drafts of a skill that was saved in the meantime."""

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import NotFound, Stale
from registry.models import Draft
from registry.services.catalog import catalog
from registry.services.drafts import conflicts, draft_files, drafts
from registry.services.drafts.drafts import RAW, Place, Typed
from registry.services.permissions import Actor
from tests.prepared import delete_skill, save_skill
from tests.services.drafts.typed import text_with, typed


def save_as(place: Place, who: Actor, changes: dict[str, bytes | None]) -> None:
    current = catalog.load(place.project.pk, place.name)
    changed = current.bundle().with_changes(changes)
    save_skill(place.project, place.name, changed, base=current.candidate.digest, by=who)


@pytest.fixture
def both_wrote(existing: Place, author: Actor, colleague: Actor) -> Place:
    """Both changed line `one`; the colleague changed `End`, the author `hello` and a file."""
    save_as(existing, author, {SKILL_MD: text_with()})
    place = Place(existing.project, "greeting")
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


def test_a_binary_file_changed_on_both_sides_needs_a_choice(existing: Place, author: Actor, colleague: Actor) -> None:
    place = Place(existing.project, "greeting")
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
    existing: Place, author: Actor, colleague: Actor
) -> None:
    place = Place(existing.project, "greeting")
    drafts.save(place, Typed(RAW, text=text_with(one="kept").decode()), by=author)
    delete_skill(place.project, "greeting", by=colleague)
    with pytest.raises(Stale):
        drafts.publish(place, by=author)
    seen = conflicts.find(place, by=author)
    assert (seen.theirs, seen.merge.open) == (None, ())
    conflicts.resolve(place, {}, theirs="", by=author)
    drafts.publish(place, by=author)
    assert b"kept" in catalog.load(place.project.pk, "greeting").bundle()[SKILL_MD]


def test_there_is_no_conflict_if_nobody_else_saved(existing: Place, author: Actor) -> None:
    drafts.save(existing, Typed(RAW, text=text_with().decode()), by=author)
    with pytest.raises(NotFound):
        conflicts.find(existing, by=author)


def test_a_page_of_an_older_version_starts_its_draft_from_that_version(
    existing: Place, author: Actor, colleague: Actor
) -> None:
    old = drafts.typed_fields(drafts.find(existing, by=author))
    save_as(existing, colleague, {SKILL_MD: text_with()})
    draft = drafts.save(existing, typed(old, description="Mine. Use when asked."), by=author)
    assert draft.base == existing.base
    assert Bundle(drafts.base_bundle(draft)).digest == existing.base
    with pytest.raises(Stale):
        drafts.publish(existing, by=author)
