"""The open questions that a person may answer."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.models import Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.workflows import question_queue, questions
from tests.prepared import ensure_agent
from tests.services.workflows.conftest import INPUT


def people(project: Project, user: User) -> Actor:
    return permissions.person(user, project)


def of(project: Project, by: Actor) -> list[int]:
    found = list(question_queue.find(project, by=by).values_list("pk", flat=True))
    assert question_queue.count(project, by=by) == len(found)
    if by.user_id is not None and by.maker_id is None and by.may(roles.REVIEW):
        assert question_queue.counts(User.objects.get(pk=by.user_id)).get(project.pk, 0) == len(found)
    return found


def test_a_question_waits_for_the_people_who_review(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User], viewer: Actor, author: Actor
) -> None:
    question = asking()
    assert of(project, people(project, person(roles.REVIEWER))) == [question.pk]
    assert of(project, people(project, person(roles.OWNER))) == [question.pk]
    assert of(project, viewer) == []
    assert of(project, author) == []


def test_a_question_that_names_a_person_waits_for_nobody_else(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer, owner = people(project, person(roles.REVIEWER)), people(project, person(roles.OWNER))
    question = asking(config="{approvers: {people: [reviewer]}}")
    assert of(project, reviewer) == [question.pk]
    assert of(project, owner) == []
    with pytest.raises(Forbidden, match="for other people"):
        questions.approve(project, question.run_id, question.pk, digest=question.digest, by=owner)


def test_a_question_for_a_role_waits_for_its_people(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer, owner = people(project, person(roles.REVIEWER)), people(project, person(roles.OWNER))
    open_to_all = asking(name="open")
    question = asking(config="{approvers: {roles: [owner]}}")
    assert of(project, owner) == [open_to_all.pk, question.pk]
    assert of(project, reviewer) == [open_to_all.pk]
    with pytest.raises(Forbidden, match="for other people"):
        questions.deny(project, question.run_id, question.pk, digest=question.digest, by=reviewer)


def test_nobody_is_asked_to_approve_their_own_run(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer = people(project, person(roles.REVIEWER))
    question = asking(by=reviewer)
    assert of(project, reviewer) == []
    with pytest.raises(Forbidden, match="your own run"):
        questions.approve(project, question.run_id, question.pk, digest=question.digest, by=reviewer)
    assert of(project, people(project, person(roles.OWNER))) == [question.pk]


def test_people_are_asked_for_input_of_their_own_run(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer = people(project, person(roles.REVIEWER))
    question = asking(INPUT, by=reviewer)
    assert of(project, reviewer) == [question.pk]


@pytest.mark.parametrize("holder", ["agent", "person"])
def test_the_maker_of_a_token_is_not_asked_about_runs_of_its_holder(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User], operator: Actor, holder: str
) -> None:
    owner, author = people(project, person(roles.OWNER)), person(roles.AUTHOR)
    agent = ensure_agent(project, "bot", by=operator)
    starter = permissions.agent(agent, frozenset({roles.READ, roles.RUN}))
    if holder == "person":
        starter = people(project, author)
    question = asking(by=starter)
    assert of(project, owner) == [question.pk]
    to: dict[str, Any] = {"agent": agent} if holder == "agent" else {"user": author}
    tokens.issue_token(project, scopes=("read", "run"), **to, by=owner)
    assert of(project, owner) == []
    with pytest.raises(Forbidden, match="made a token for"):
        questions.approve(project, question.run_id, question.pk, digest=question.digest, by=owner)
    assert of(project, people(project, person(roles.REVIEWER))) == [question.pk]


def test_a_token_of_another_project_bars_nobody(
    project: Project,
    other_project: Project,
    asking: Callable[..., RunQuestion],
    person: Callable[[str], User],
    operator: Actor,
) -> None:
    owner, author = person(roles.OWNER), person(roles.AUTHOR)
    for user, role in ((owner, roles.OWNER), (author, roles.AUTHOR)):
        members.set_role(other_project, user, role, by=operator)
    tokens.issue_token(other_project, user=author, scopes=("read",), by=people(other_project, owner))
    question = asking()
    assert of(project, people(project, owner)) == [question.pk]


def test_one_of_two_approvals_takes_the_question_from_a_persons_queue(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer, owner = people(project, person(roles.REVIEWER)), people(project, person(roles.OWNER))
    question = asking(config="{approvers: {count: 2}}")
    questions.approve(project, question.run_id, question.pk, digest=question.digest, by=reviewer)
    assert of(project, reviewer) == []
    assert of(project, owner) == [question.pk]


def test_answered_and_late_questions_wait_for_nobody(
    project: Project, asking: Callable[..., RunQuestion], person: Callable[[str], User]
) -> None:
    reviewer = people(project, person(roles.REVIEWER))
    answered, late = asking(), asking()
    questions.deny(project, answered.run_id, answered.pk, digest=answered.digest, by=reviewer)
    assert of(project, reviewer) == [late.pk]
    RunQuestion.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert of(project, reviewer) == []
    assert list(question_queue.all_open(project, by=reviewer)) == [late]


def test_agents_and_operators_have_no_queue(
    project: Project, asking: Callable[..., RunQuestion], operator: Actor
) -> None:
    asking()
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset(roles.SCOPES))
    assert of(project, bot) == []
    assert of(project, operator) == []


def test_a_stranger_sees_no_queue(
    project: Project, other_project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, stranger, roles.OWNER, by=operator)
    for verb in (question_queue.find, question_queue.count, question_queue.all_open):
        with pytest.raises(NotFound):
            verb(project, by=people(other_project, stranger))
    assert question_queue.counts(stranger) == {}


def test_all_projects_of_a_person_are_counted_with_one_query(
    project: Project,
    other_project: Project,
    asking: Callable[..., RunQuestion],
    person: Callable[[str], User],
    operator: Actor,
    django_assert_num_queries: Callable[..., CaptureQueriesContext],
) -> None:
    owner = person(roles.OWNER)
    members.set_role(other_project, owner, roles.VIEWER, by=operator)
    asking()
    asking(config="{approvers: {people: [owner, somebody]}}", name="named")
    asking(config="{approvers: {people: [somebody]}}", name="theirs")
    elsewhere = RunQuestion.objects.order_by("pk").first()
    assert elsewhere is not None
    Run.objects.create(
        project=other_project, skill="x", version="1", digest="d", lock=elsewhere.run.lock, trust="standard",
        started_by="x", state="waiting",
    ).questions.create(path="ask", kind="approve", digest="d", shown={})  # fmt: skip
    with django_assert_num_queries(1):
        assert question_queue.counts(owner) == {project.pk: 2}
    members.set_role(other_project, owner, roles.REVIEWER, by=operator)
    assert question_queue.counts(owner) == {project.pk: 2, other_project.pk: 1}
    projects.archive(other_project, by=operator)
    assert question_queue.counts(owner) == {project.pk: 2}
