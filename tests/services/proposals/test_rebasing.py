"""Updating a stale proposal to the current version of its skill."""

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import Conflict, Forbidden, NotFound
from registry.core.limits import Limits
from registry.core.proposals.lifecycle import State
from registry.models import Agent, Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import proposal_queries, rebasing, reviews
from registry.services.proposals.prepare import Suggestion
from tests import prepared
from tests.prepared import delete_skill
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import WHY, propose, save, text


def test_stale_proposal_that_still_applies_is_rebased_and_open_again(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    moved = save(project, author, Nine="Nove")
    offer = proposal_queries.details(project, made.pk, by=reviewer).rebase
    rebased = rebasing.rebase(project, made.pk, by=reviewer)
    assert offer is not None and offer.prepared is not None
    assert (rebased.state, rebased.revision, rebased.base_digest) == (State.OPEN, 2, moved)
    assert rebased.result_digest == offer.prepared.result_digest != made.result_digest
    with pytest.raises(Conflict, match="revised after you opened it"):
        reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)
    reviews.approve(project, made.pk, result_digest=rebased.result_digest, by=reviewer)
    loaded = catalog.load(project.pk, "greeting")
    assert loaded.read_text(SKILL_MD, Limits()) == text(One="Uno", Nine="Nove")


def test_only_proposer_and_reviewers_can_rebase(
    project: Project, skill: str, bot: Actor, author: Actor, other_bot: Actor
) -> None:
    made = propose(project, bot)
    propose(project, other_bot)
    propose(project, author)
    save(project, author, Nine="Nove")
    for somebody in (other_bot, author):
        with nothing_left_behind(), pytest.raises(Forbidden, match="review"):
            rebasing.rebase(project, made.pk, by=somebody)
    assert rebasing.rebase(project, made.pk, by=bot).state == State.OPEN


def test_agent_that_cannot_load_the_skill_cannot_rebase(
    project: Project, skill: str, bot: Actor, author: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, Nine="Secret")
    Agent.objects.filter(pk=bot.agent_id).update(allowed_skills=["other"])
    assert proposal_queries.details(project, made.pk, by=bot).rebase is None
    with nothing_left_behind(), pytest.raises(NotFound):
        rebasing.rebase(project, made.pk, by=bot)


def test_rebase_with_a_conflict_is_refused_without_choices(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, One="Eins")
    offer = proposal_queries.details(project, made.pk, by=reviewer).rebase
    assert offer is not None and offer.prepared is None
    with nothing_left_behind(), pytest.raises(Conflict, match=r"same lines of SKILL\.md") as refused:
        rebasing.rebase(project, made.pk, by=reviewer)
    assert refused.value.data["files"] == [SKILL_MD]


def test_rebase_is_refused_if_the_skill_already_contains_the_change(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    save(project, author, One="Uno")
    with nothing_left_behind(), pytest.raises(Conflict, match="already contains this change"):
        rebasing.rebase(project, made.pk, by=reviewer)


def test_rebase_is_refused_if_the_skill_is_deleted(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    delete_skill(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match="greeting no longer exists"):
        rebasing.rebase(project, made.pk, by=reviewer)


def test_deletion_is_rebased_to_the_newest_version(
    project: Project, skill: str, bot: Actor, author: Actor, reviewer: Actor
) -> None:
    made = prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=bot).proposal
    moved = save(project, author, Nine="Nove")
    assert rebasing.rebase(project, made.pk, by=reviewer).base_digest == moved


def test_rebase_of_an_open_proposal_is_refused(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    made = propose(project, bot)
    with nothing_left_behind(), pytest.raises(Conflict, match="does not allow rebase"):
        rebasing.rebase(project, made.pk, by=reviewer)
