"""People who may not approve: proposers, backers, and makers of their tokens."""

import pytest

from registry.core import roles
from registry.core.errors import Forbidden
from registry.core.proposals.lifecycle import State
from registry.models import Membership, Project, Token, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import approve, propose, rewrite, suggest


def test_own_proposal_cannot_be_approved(project: Project, skill: str, reviewer: Actor, owner: Actor) -> None:
    made = propose(project, reviewer)
    for edit in (None, rewrite(One="Ein")):
        with nothing_left_behind(), pytest.raises(Forbidden, match="approve your own"):
            approve(project, made, reviewer, edit=edit)
    assert approve(project, made, owner).state == State.APPROVED


def token_of(agent: Actor, project: Project, by: Actor) -> Token:
    tokens.create_token(project, agent=project.agents.get(pk=agent.agent_id), by=by)
    return Token.objects.latest("pk")


@pytest.mark.parametrize("revoked", [False, True])
def test_proposal_of_own_agent_cannot_be_approved(
    project: Project, skill: str, bot: Actor, owner: Actor, reviewer: Actor, revoked: bool
) -> None:
    token = token_of(bot, project, owner)
    made = propose(project, bot)
    if revoked:
        tokens.revoke_token(project, token.pk, by=owner)
    with nothing_left_behind(), pytest.raises(Forbidden, match="you made a token for"):
        approve(project, made, owner)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_token_made_after_the_proposal_also_bars_its_maker(
    project: Project, skill: str, bot: Actor, owner: Actor
) -> None:
    made = propose(project, bot)
    token_of(bot, project, owner)
    with pytest.raises(Forbidden):
        approve(project, made, owner)


def test_joined_proposal_cannot_be_approved(
    project: Project, skill: str, bot: Actor, other_bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    made = propose(project, bot)
    propose(project, reviewer)
    token_of(other_bot, project, owner)
    propose(project, other_bot)
    for somebody in (reviewer, owner):
        with nothing_left_behind(), pytest.raises(Forbidden):
            approve(project, made, somebody)


def test_maker_of_a_token_for_the_proposer_cannot_approve(
    project: Project, skill: str, author: Actor, reviewer: Actor, owner: Actor
) -> None:
    """An owner who creates a token for another person could use it to act as that person."""
    lent = Actor("person", "author", project.pk, author.scopes, user_id=author.user_id, maker_id=owner.user_id)
    made = propose(project, lent)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)
    own = propose(project, owner, rewrite(One="Un"))
    borrowed = Actor(
        "person", "reviewer", project.pk, reviewer.scopes, user_id=reviewer.user_id, maker_id=owner.user_id
    )
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, own, borrowed)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_maker_of_a_token_that_can_revise_cannot_approve(
    project: Project, other_project: Project, skill: str, author: Actor, reviewer: Actor, owner: Actor, operator: Actor
) -> None:
    user = User.objects.get(pk=author.user_id)
    tokens.create_token(project, user=user, scopes=(roles.PROPOSE,), by=author)
    made = propose(project, author)
    Membership.objects.create(project=other_project, user=user, role=roles.VIEWER)
    elsewhere = Actor("person", "owner", other_project.pk, owner.scopes, user_id=owner.user_id)
    tokens.create_token(other_project, user=user, by=elsewhere)
    assert not reviews.own_backers(owner).exists()
    tokens.create_token(project, user=user, scopes=(roles.PROPOSE,), by=owner)
    lent = Actor("person", "author", project.pk, author.scopes, user_id=author.user_id, maker_id=owner.user_id)
    made = proposals.revise(project, made.pk, suggest(rewrite(One="Un")), by=lent).proposal
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(project, made, owner)
    assert approve(project, made, reviewer).state == State.APPROVED


def test_token_made_by_somebody_else_cannot_create_agent_tokens(
    project: Project, bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    lent = Actor("person", "reviewer", project.pk, owner.scopes, user_id=reviewer.user_id, maker_id=owner.user_id)
    with nothing_left_behind(), pytest.raises(Forbidden, match="somebody else created"):
        token_of(bot, project, lent)


def test_own_proposal_can_be_rejected(project: Project, skill: str, reviewer: Actor) -> None:
    made = propose(project, reviewer)
    assert reviews.reject(project, made.pk, comment="I was wrong.", by=reviewer).state == State.REJECTED


def test_agents_and_operators_cannot_decide(project: Project, skill: str, bot: Actor, operator: Actor) -> None:
    made = propose(project, bot)
    other = ensure_agent(project, "judge", by=operator)
    for somebody in (permissions.agent(other, frozenset(roles.SCOPES)), operator):
        for decide in (
            lambda by: approve(project, made, by),
            lambda by: reviews.reject(project, made.pk, comment="No.", by=by),
            lambda by: reviews.request_changes(project, made.pk, comment="No.", by=by),
        ):
            with nothing_left_behind(), pytest.raises(Forbidden):
                decide(somebody)


def test_decision_is_refused_if_the_role_was_removed_meanwhile(
    project: Project, skill: str, bot: Actor, reviewer: Actor
) -> None:
    made = propose(project, bot)
    Membership.objects.filter(user=reviewer.user_id).update(role=roles.AUTHOR)
    for decide in (
        lambda: approve(project, made, reviewer),
        lambda: reviews.reject(project, made.pk, comment="No.", by=reviewer),
    ):
        with nothing_left_behind(), pytest.raises(Forbidden, match="no longer allowed"):
            decide()
