"""A project can let reviewers answer for agents whose token they made, and for nobody else."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.errors import Forbidden
from registry.models import Event, Notification, Project, RunApproval, RunQuestion, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.workflows import answerers, question_queue, questions
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def by_agent(project: Project, operator: Actor, owner: Actor, asking: Callable[..., RunQuestion]) -> RunQuestion:
    """Return the question of a run that an agent started, whose token the owner made."""
    bot = ensure_agent(project, "bot", by=operator)
    tokens.create_token(project, agent=bot, scopes=(roles.READ, roles.RUN), by=owner)
    return asking(by=permissions.agent(bot, frozenset({roles.RUN, roles.READ})))


def allow(project: Project, by: Actor, on: bool = True) -> None:
    projects.set_makers_approve(project, on, by=by)
    project.refresh_from_db()


def approve(question: RunQuestion, by: Actor) -> Any:
    project = Project.objects.get(pk=question.run.project_id)
    return questions.approve(project, question.run_id, question.pk, digest=question.digest, by=by)


def waiting(project: Project, by: Actor) -> tuple[int, int, bool]:
    """Return the counts of the project and of the person, and whether the person is among those who can answer."""
    user = User.objects.get(pk=by.user_id)
    question = RunQuestion.objects.select_related("run__project").get()
    able = answerers.able(question.run, [question])[0]
    return question_queue.count(project, by=by), question_queue.counts(user).get(project.pk, 0), user in able


def test_it_is_off_by_default(project: Project, by_agent: RunQuestion, owner: Actor) -> None:
    assert waiting(project, owner) == (0, 0, False)
    with nothing_left_behind(), pytest.raises(Forbidden, match="made a token for"):
        approve(by_agent, owner)


def test_a_maker_answers_if_the_project_allows_it_and_that_is_recorded(
    project: Project, by_agent: RunQuestion, owner: Actor
) -> None:
    allow(project, owner)
    assert waiting(project, owner) == (1, 1, True)
    approve(by_agent, owner)
    assert RunApproval.objects.get().own_agent is True
    assert Event.objects.get(verb="question.approved").data["own_agent"] is True


def test_the_approval_of_somebody_else_is_not_marked(
    project: Project, by_agent: RunQuestion, owner: Actor, reviewer: Actor
) -> None:
    allow(project, owner)
    approve(by_agent, reviewer)
    assert RunApproval.objects.get().own_agent is False
    assert "own_agent" not in Event.objects.get(verb="question.approved").data


def test_it_ends_with_the_option(project: Project, by_agent: RunQuestion, owner: Actor) -> None:
    allow(project, owner)
    allow(project, owner, on=False)
    assert waiting(project, owner) == (0, 0, False)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(by_agent, owner)


def test_it_allows_neither_own_runs_nor_those_of_people_they_made_a_token_for(
    project: Project, asking: Callable[..., RunQuestion], owner: Actor, author: Actor
) -> None:
    allow(project, owner)
    lent = Actor("person", "author", project.pk, owner.scopes, user_id=author.user_id, maker_id=owner.user_id)
    for by in (owner, lent):
        question = asking(by=by)
        with nothing_left_behind(), pytest.raises(Forbidden):
            approve(question, owner)
    assert question_queue.count(project, by=owner) == 0


def test_the_maker_is_notified_if_the_project_allows_it(
    project: Project, operator: Actor, owner: Actor, asking: Callable[..., RunQuestion]
) -> None:
    bot = ensure_agent(project, "bot", by=operator)
    tokens.create_token(project, agent=bot, scopes=(roles.READ, roles.RUN), by=owner)
    by = permissions.agent(bot, frozenset({roles.RUN, roles.READ}))
    asking(by=by)
    assert not Notification.objects.filter(user=owner.user_id, event="run.waiting").exists()
    allow(project, owner)
    asking(by=by)
    assert Notification.objects.get(user=owner.user_id, event="run.waiting").waits


def test_the_option_of_another_project_does_not_count(
    project: Project, other_project: Project, by_agent: RunQuestion, operator: Actor, owner: Actor
) -> None:
    allow(other_project, operator)
    with nothing_left_behind(), pytest.raises(Forbidden):
        approve(by_agent, owner)


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR, roles.REVIEWER])
def test_only_owners_change_the_option(project: Project, person: Callable[[str], User], role: str) -> None:
    by = permissions.person(person(role), project)
    with nothing_left_behind(), pytest.raises(Forbidden):
        allow(project, by)
