"""Proposals become stale when their skill changes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.core.errors import StaleProposal
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import Event, Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from registry.services.skills import versions
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, delete_skill, disable_skill, import_bundle, yank_version
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import LINES, now, propose, rewrite, save

MOVES: dict[str, Callable[[Project, Actor], object]] = {
    "a save": lambda p, by: save(p, by, Nine="9"),
    "an import": lambda p, by: import_bundle(p, skill_bundle(body="Imported."), by=by),
    "a deletion": lambda p, by: delete_skill(p, "greeting", by=by),
    "a withdrawal": lambda p, by: yank_version(p, "greeting", "2", reason="Wrong.", by=by),
    "a restore": lambda p, by: versions.restore(p, "greeting", "1", by=by),
}


@pytest.mark.parametrize("move", MOVES)
def test_change_of_the_skill_makes_a_proposal_stale_in_the_same_event(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor, move: str
) -> None:
    save(project, author, Two="Due")
    made = propose(project, bot)
    asked = propose(project, bot, rewrite(One="Un"))
    reviews.request_changes(project, asked.pk, comment="Why?", by=reviewer)
    other = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    MOVES[move](project, author)
    assert [now(each).state for each in (made, asked, other)] == [State.STALE, State.STALE, State.OPEN]
    assert made.base_digest in now(made).state_reason
    event = Event.objects.order_by("-pk")[0]
    assert event.data["overtaken"] == [made.pk, asked.pk]
    with nothing_left_behind(), pytest.raises(StaleProposal, match="Nothing was changed"):
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)


def test_a_name_that_was_taken_meanwhile_makes_a_creation_stale(project: Project, bot: Actor, author: Actor) -> None:
    made = propose(project, bot, edits.parse(skill_md=skill_text("fresh")), skill="fresh")
    create_skill(project, skill_bundle("fresh", body="Mine."), by=author)
    assert now(made).state == State.STALE


def test_change_on_disk_makes_a_proposal_stale_when_it_is_read(
    project: Project, library: Path, bot: Actor, reviewer: Actor
) -> None:
    on_disk(library, body=LINES)
    made = propose(project, bot)
    on_disk(library, body="Another text.")
    built_in.index().refresh()
    assert proposals.list_proposals(project, state="open", by=reviewer).count() == 0
    assert now(made).state == State.STALE
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.actor_kind, event.data["overtaken"]) == ("proposal.overtaken", "system", [made.pk])


def test_change_on_disk_of_a_customised_skill_makes_nothing_stale(
    project: Project, library: Path, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    on_disk(library, body="Another text.")
    built_in.index().refresh()
    events = Event.objects.count()
    assert proposals.find(project, made.pk, by=reviewer).state == State.OPEN
    assert [found.state for found in proposals.list_proposals(project, by=reviewer)] == [State.OPEN]
    assert Event.objects.count() == events


def test_disabling_a_skill_makes_nothing_stale(project: Project, skill: str, bot: Actor, author: Actor) -> None:
    made = propose(project, bot)
    disable_skill(project, "greeting", by=author)
    assert now(made).state == State.OPEN
