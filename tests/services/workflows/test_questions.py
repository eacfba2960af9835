"""Questions of runs are answered once, by the right people, about exactly what they saw."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyDecided, Conflict, Forbidden, InvalidRequest, NotFound
from registry.models import Event, Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_sweep, runs, stored_values
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import APPROVE, INPUT, finish, states

TWO_LETTERS = """
id: letters
version: 1.0.0
steps:
  - {id: first, uses: human.approve, input: {question: "Send the first?"}}
  - {id: second, uses: human.approve, input: {question: "Send the second?"}}
"""
BRANCH = """
id: branch
version: 1.0.0
outputs: {text: {type: string, required: true}}
steps:
  - id: ask
    uses: human.approve
    input: {question: "Publish?"}
    config: {on_deny: apologise}
  - {id: publish, uses: data.echo, input: {value: published}, output: {value: outputs.text}}
  - {id: apologise, uses: data.echo, input: {value: sorry}, output: {value: outputs.text}}
"""


@pytest.fixture
def second_reviewer(project: Project, operator: Actor) -> Actor:
    user = User.objects.create_user("second")
    members.set_role(project, user, roles.REVIEWER, by=operator)
    return permissions.person(user, project)


def approve(question: RunQuestion, by: Actor, **changed: Any) -> Run:
    given = {"digest": question.digest, **changed}
    return questions.approve(question.run.project, question.run_id, question.pk, by=by, **given)


def deny(question: RunQuestion, by: Actor) -> Run:
    return questions.deny(question.run.project, question.run_id, question.pk, digest=question.digest, by=by)


def answer(question: RunQuestion, value: Any, by: Actor) -> Run:
    return questions.answer(
        question.run.project, question.run_id, question.pk, digest=question.digest, value=value, by=by
    )


def after(run: Run, worker: RunWorker) -> str:
    finish(worker)
    run.refresh_from_db()
    return run.state


def test_an_approved_run_goes_on_once(asking: Callable[..., RunQuestion], reviewer: Actor, worker: RunWorker) -> None:
    question = asking()
    assert question.run.state == "waiting"
    run = approve(question, reviewer, comment="Fine.")
    assert after(run, worker) == "completed"
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="already approved"):
        approve(question, reviewer)
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="already approved"):
        deny(question, reviewer)


def test_an_approval_of_something_else_is_refused(asking: Callable[..., RunQuestion], reviewer: Actor) -> None:
    question = asking()
    with nothing_left_behind(), pytest.raises(Conflict) as refused:
        approve(question, reviewer, digest="sha256:" + "0" * 64)
    assert refused.value.data["digest"] == question.digest


def test_nobody_approves_their_own_run(
    asking: Callable[..., RunQuestion], owner: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(by=owner)
    with nothing_left_behind(), pytest.raises(Forbidden, match="your own run"):
        approve(question, owner)
    assert after(approve(question, reviewer), worker) == "completed"


def test_nobody_approves_the_run_of_an_agent_whose_token_they_made(
    project: Project, asking: Callable[..., RunQuestion], owner: Actor, reviewer: Actor, operator: Actor
) -> None:
    bot = ensure_agent(project, "bot", by=operator)
    tokens.create_token(project, agent=bot, scopes=(roles.READ, roles.RUN), lifetime=timedelta(days=1), by=owner)
    question = asking(by=permissions.agent(bot, frozenset({roles.READ, roles.RUN})))
    with nothing_left_behind(), pytest.raises(Forbidden, match="made a token for"):
        approve(question, owner)
    approve(question, reviewer)


def test_the_starter_may_still_deny_their_own_run(
    asking: Callable[..., RunQuestion], reviewer: Actor, worker: RunWorker
) -> None:
    assert after(deny(asking(by=reviewer), reviewer), worker) == "denied"


def test_a_question_that_names_people_is_for_nobody_else(
    asking: Callable[..., RunQuestion], owner: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(config="{approvers: {people: [reviewer]}}")
    for attempt in (approve, deny):
        with nothing_left_behind(), pytest.raises(Forbidden, match="other people"):
            attempt(question, owner)
    assert after(approve(question, reviewer), worker) == "completed"


def test_two_of_three_people_have_to_approve(
    asking: Callable[..., RunQuestion], owner: Actor, reviewer: Actor, second_reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(config="{approvers: {count: 2}}")
    run = approve(question, reviewer)
    assert after(run, worker) == "waiting"
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="You have approved this already"):
        approve(question, reviewer)
    assert after(approve(question, second_reviewer), worker) == "completed"
    with pytest.raises(AlreadyDecided):
        approve(question, owner)


def test_one_person_can_deny_what_needs_two_approvals(
    asking: Callable[..., RunQuestion], reviewer: Actor, second_reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(config="{approvers: {count: 2}}")
    approve(question, reviewer)
    assert after(deny(question, second_reviewer), worker) == "denied"


def test_a_denial_can_branch(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(BRANCH), by=author)
    finish(worker)
    deny(run.questions.get(), reviewer)
    assert after(run, worker) == "completed"
    assert stored_values.unpack(run.outputs) == {"text": "sorry"}
    assert states(run) == {"ask": "denied", "publish": "skipped", "apologise": "completed"}


def test_each_question_of_a_run_is_answered_alone(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(TWO_LETTERS), by=author)
    finish(worker)
    first = run.questions.get()
    approve(first, reviewer)
    assert after(run, worker) == "waiting"
    second = run.questions.exclude(pk=first.pk).get()
    with nothing_left_behind(), pytest.raises(Conflict):
        approve(second, reviewer, digest=first.digest)
    approve(second, reviewer)
    assert after(run, worker) == "completed"


def test_a_late_answer_is_refused_and_the_sweep_denies(
    asking: Callable[..., RunQuestion], reviewer: Actor, operator: Actor, worker: RunWorker
) -> None:
    question = asking(config="{expires_seconds: 60}")
    assert question.expires_at is not None
    RunQuestion.objects.filter(pk=question.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="run out"):
        approve(question, reviewer)
    run_sweep.wake_overdue(now=timezone.now())
    assert after(question.run, worker) == "expired"
    assert Event.objects.filter(verb="question.expired").count() == 1
    run_sweep.wake_overdue(now=timezone.now())
    assert Event.objects.filter(verb="question.expired").count() == 1


def test_typed_input_is_checked_and_can_be_given_again(
    asking: Callable[..., RunQuestion], reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(INPUT)
    for wrong in ({"number": "many"}, {"number": True}, {"numbr": 1}, [1], "1", None):
        with nothing_left_behind(), pytest.raises(InvalidRequest) as refused:
            answer(question, wrong, reviewer)
        assert refused.value.field == "value"
    assert after(answer(question, {"number": 3}, reviewer), worker) == "completed"


def test_an_approval_does_not_answer_a_form_nor_an_answer_an_approval(
    asking: Callable[..., RunQuestion], reviewer: Actor
) -> None:
    form, yes_or_no = asking(INPUT), asking(APPROVE, name="other")
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="needs an answer"):
        approve(form, reviewer)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="needs an approval"):
        answer(yes_or_no, {"approved": True}, reviewer)


def test_a_question_is_only_found_in_its_own_run(asking: Callable[..., RunQuestion], reviewer: Actor) -> None:
    first, second = asking(), asking()
    with nothing_left_behind(), pytest.raises(NotFound):
        questions.approve(
            first.run.project, second.run_id, first.pk, digest=first.digest, by=reviewer
        )  # fmt: skip


def test_an_answer_to_a_cancelled_run_is_refused(
    asking: Callable[..., RunQuestion], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking()
    runs.cancel(question.run.project, question.run_id, by=author)
    assert after(question.run, worker) == "cancelled"
    with nothing_left_behind(), pytest.raises(AlreadyDecided, match="withdrawn"):
        approve(question, reviewer)
