"""Every verb of proposals: one event, one step of the revision, and no effect without permission."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.core.text import edits
from registry.models import Agent, Event, Project, Proposal, User
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.proposals import proposals, rebasing, recommendations, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent, propose, save_skill
from tests.remembered import remembered
from tests.services.footprint import nothing_left_behind
from tests.services.verbs import public_verbs

MODULES = ("proposals", "reviews", "rebasing", "recommendations")
ASKING = {
    "proposals.add_revision", "proposals.replace_revision", "proposals.add_comment", "proposals.is_proposer",
    "proposals.require_proposer", "proposals.visible", "proposals.list_proposals", "proposals.find",
    "reviews.may_decide", "recommendations.may_recommend", "reviews.require_reviewer", "reviews.own_backers",
    "reviews.is_of_own_agent",
    "rebasing.may_rebase", "rebasing.preview",
}  # fmt: skip


def suggestion(body: str) -> Suggestion:
    return Suggestion("greeting", edits.parse(skill_md=skill_text(body=body)), "It is better.")


Call = Callable[[Project, Proposal, Actor], object]
# What is done, the event it leaves, and who does it in the world below.
VERBS: dict[str, tuple[Call, str, str]] = {
    "proposals.propose": (lambda p, _, by: propose(p, suggestion("Other."), by=by), "proposal.opened", "bot"),
    "proposals.revise": (
        lambda p, made, by: proposals.revise(p, made.pk, suggestion("Other."), by=by), "proposal.revised", "bot"),
    "proposals.withdraw": (lambda p, made, by: proposals.withdraw(p, made.pk, by=by), "proposal.withdrawn", "bot"),
    "proposals.comment": (lambda p, made, by: proposals.comment(p, made.pk, "Hm.", by=by), "proposal.commented", "bot"),
    "reviews.approve": (
        lambda p, made, by: reviews.approve(p, made.pk, result_digest=made.result_digest, by=by),
        "proposal.approved", "reviewer"),
    "reviews.reject": (
        lambda p, made, by: reviews.reject(p, made.pk, comment="No.", by=by), "proposal.rejected", "reviewer"),
    "reviews.request_changes": (
        lambda p, made, by: reviews.request_changes(p, made.pk, comment="No.", by=by),
        "proposal.changes-requested", "reviewer"),
    "recommendations.recommend": (
        lambda p, made, by: recommendations.recommend(p, made.pk, verdict="approve", reason="Good.", by=by),
        "proposal.recommended", "judge"),
    "rebasing.rebase": (lambda p, made, by: rebasing.rebase(p, made.pk, by=by), "proposal.rebased", "reviewer"),
}  # fmt: skip


@pytest.fixture
@remembered
def made(project: Project, operator: Actor, author: Actor) -> Proposal:
    """A proposal of a bot; agents may advise."""
    Project.objects.update(reviewer_agents=True)
    bundle = skill_bundle(body="One\nTwo\nThree\nFour\nFive\n")
    create_skill(project, bundle, by=author)
    ensure_agent(project, "bot", by=operator)
    ensure_agent(project, "judge", by=operator)
    bot = permissions.agent(Agent.objects.get(name="bot"), frozenset({roles.PROPOSE}))
    return propose(project, suggestion("Uno\nTwo\nThree\nFour\nFive\n"), by=bot).proposal


def actor(name: str, project: Project, person: Callable[[str], User]) -> Actor:
    if name == "reviewer":
        return permissions.person(person(roles.REVIEWER), project)
    return permissions.agent(Agent.objects.get(name=name), frozenset({roles.PROPOSE}))


def overtake(project: Project, author: Actor, digest: str) -> None:
    bundle = skills.with_text(project, "greeting", skill_text(body="One\nTwo\nThree\nFour\nCinque\n"))
    save_skill(project, "greeting", bundle, base=digest, by=author)


def test_no_verb_was_forgotten() -> None:
    found = {name for name, _ in public_verbs() if name.partition(".")[0] in MODULES}
    assert found - ASKING == VERBS.keys()


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_leaves_one_event_and_moves_the_revision_by_one(
    project: Project, made: Proposal, author: Actor, person: Callable[[str], User], name: str
) -> None:
    call, verb, who = VERBS[name]
    by = actor(who, project, person)
    if name == "rebasing.rebase":
        overtake(project, author, made.base_digest)
    revision, events = Project.objects.get(pk=project.pk).revision, Event.objects.count()
    call(project, made, by)
    assert (Project.objects.get(pk=project.pk).revision, Event.objects.count()) == (revision + 1, events + 1)
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.actor_name, event.target) == (verb, who, "greeting")
    assert event.data["proposal"] == Proposal.objects.latest("pk").pk
    assert (event.user_id, event.agent_id) == (by.user_id, by.agent_id)


@pytest.mark.parametrize("name", VERBS)
def test_without_any_scope_a_verb_is_refused_and_changes_nothing(project: Project, made: Proposal, name: str) -> None:
    for agent in Agent.objects.all():
        with nothing_left_behind(), pytest.raises(Forbidden):
            VERBS[name][0](project, made, permissions.agent(agent, frozenset({roles.READ, roles.WRITE})))


@pytest.mark.parametrize("name", VERBS)
def test_actor_of_another_project_gets_not_found(
    project: Project, made: Proposal, other_project: Project, operator: Actor, name: str
) -> None:
    stranger = ensure_agent(other_project, "bot", by=operator)
    person = Actor("person", "x", other_project.pk, frozenset(roles.SCOPES), user_id=User.objects.all()[0].pk)
    for by in (permissions.agent(stranger, frozenset(roles.SCOPES)), person):
        with nothing_left_behind(), pytest.raises((NotFound, Forbidden)) as refused:
            VERBS[name][0](project, made, by)
        assert "greeting" not in refused.value.message


@pytest.mark.parametrize("name", [name for name in VERBS if name != "proposals.propose"])
def test_unknown_proposal_is_not_found(
    project: Project, made: Proposal, person: Callable[[str], User], name: str
) -> None:
    call, _, who = VERBS[name]
    by = actor(who, project, person)
    with nothing_left_behind(), pytest.raises(NotFound):
        call(project, Proposal(pk=made.pk + 1, result_digest=made.result_digest), by)
