"""A project can let reviewers approve proposals of agents whose token they made."""

import pytest

from registry.core.errors import Forbidden
from registry.core.proposals.lifecycle import State
from registry.models import Approval, Event, Notification, Project, Proposal
from registry.services.agents import tokens
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import approval_records, review_queue
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import approve, propose


@pytest.fixture
def allowed(project: Project, owner: Actor) -> None:
    projects.set_makers_approve(project, True, by=owner)
    project.refresh_from_db()


@pytest.fixture
def made(project: Project, skill: str, bot: Actor, owner: Actor) -> Proposal:
    """Return a proposal of an agent whose token the owner made."""
    tokens.create_token(project, agent=project.agents.get(pk=bot.agent_id), by=owner)
    return propose(project, bot)


def test_a_maker_approves_and_that_is_recorded(project: Project, allowed: None, made: Proposal, owner: Actor) -> None:
    assert review_queue.waiting(project, by=owner) == 1
    assert Notification.objects.get(user=owner.user_id, proposal=made).waits
    assert approve(project, made, owner).state == State.APPROVED
    assert Approval.objects.get().own_agent is True
    assert Event.objects.get(verb="proposal.approved").data["own_agent"] is True
    assert approval_records.verify()[1] == []


def test_an_approval_of_somebody_else_is_not_marked(
    project: Project, allowed: None, made: Proposal, reviewer: Actor
) -> None:
    approve(project, made, reviewer)
    assert Approval.objects.get().own_agent is False
    assert "own_agent" not in Event.objects.get(verb="proposal.approved").data


def test_it_ends_with_the_option(project: Project, allowed: None, made: Proposal, owner: Actor) -> None:
    projects.set_makers_approve(project, False, by=owner)
    assert review_queue.waiting(project, by=owner) == 0
    with nothing_left_behind(), pytest.raises(Forbidden, match="you made a token for"):
        approve(project, made, owner)


def test_joining_the_proposal_still_bars_them(
    project: Project, allowed: None, made: Proposal, owner: Actor, author: Actor
) -> None:
    propose(project, owner)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)


def test_a_person_they_made_a_token_for_still_bars_them(
    project: Project, skill: str, allowed: None, owner: Actor, author: Actor
) -> None:
    lent = Actor("person", "author", project.pk, author.scopes, user_id=author.user_id, maker_id=owner.user_id)
    made = propose(project, lent)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)
