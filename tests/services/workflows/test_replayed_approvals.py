"""Replays never take over what a person approved in another run."""

from collections.abc import Callable

import pytest

from registry.core.errors import InvalidRequest
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import finish, states

HEAD = "id: gated\nversion: 1.0.0\ninputs: {fails: {type: boolean, default: false}}\nsteps:\n"
ASK = '  - {id: approve, uses: human.approve, input: {question: "Publish?"}}\n'
PAY = "  - {id: pay, uses: data.echo, input: {value: paid}, output: {value: vars.paid}}\n"
PUBLISH = "  - {id: publish, uses: data.echo, input: {value: sent}, output: {value: vars.sent}}\n"
STOP = "  - {id: stop, uses: control.fail, input: {message: No.}, config: {condition: inputs.fails}}\n"
BESIDE = "  - {id: beside, uses: data.echo, input: {value: 1}, output: {value: vars.one}, config: {depends_on: []}}\n"
INNER = "id: inner\nversion: 1.0.0\nsteps:\n" + ASK
NESTED = '  - {id: ask, uses: "skill:inner"}\n'


@pytest.fixture
def approved(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> Callable[..., Run]:
    """Return a function that carries a run to its end, with the approval of its one question."""

    def run(steps: str, *, fails: bool = False) -> Run:
        started = runs.start(project, workflow(HEAD + steps), inputs={"fails": fails}, by=author)
        finish(worker)
        question = started.questions.get()
        questions.approve(project, started.pk, question.pk, digest=question.digest, by=reviewer)
        finish(worker)
        started.refresh_from_db()
        assert started.state == ("failed" if fails else "completed")
        return started

    return run


def test_a_replay_after_an_approval_asks_for_it_again(
    project: Project, approved: Callable[..., Run], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    again = runs.replay(project, approved(BESIDE + ASK + PUBLISH).pk, start_at="publish", by=author)
    finish(worker)
    assert states(again) == {"beside": "completed", "approve": "waiting"}
    question = again.questions.get()
    questions.deny(project, again.pk, question.pk, digest=question.digest, by=reviewer)
    finish(worker)
    again.refresh_from_db()
    assert again.state == "denied" and "publish" not in states(again)


def test_a_replay_of_the_rest_of_a_failed_run_asks_again(
    project: Project, approved: Callable[..., Run], author: Actor, worker: RunWorker
) -> None:
    again = runs.replay(project, approved(ASK + STOP, fails=True).pk, by=author)
    finish(worker)
    assert states(again) == {"approve": "waiting"}


@pytest.mark.parametrize("start_at", ["publish", ""])
def test_a_replay_that_would_repeat_other_calls_is_refused(
    project: Project, approved: Callable[..., Run], author: Actor, worker: RunWorker, start_at: str
) -> None:
    run = approved(ASK + PAY + PUBLISH + STOP, fails=True)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=r"Begin at approve\..*again: pay") as refused:
        runs.replay(project, run.pk, start_at=start_at, by=author)
    assert refused.value.field == "from"
    again = runs.replay(project, run.pk, start_at="approve", by=author)
    finish(worker)
    assert states(again) == {"approve": "waiting"}


def test_an_approval_inside_of_a_nested_skill_is_not_taken_over(
    project: Project, workflow: Callable[..., str], approved: Callable[..., Run], author: Actor
) -> None:
    workflow(INNER, "inner")
    run = approved(NESTED + PUBLISH)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Begin at ask"):
        runs.replay(project, run.pk, start_at="publish", by=author)


def test_a_replay_of_what_needs_no_approval_asks_nobody(
    project: Project, approved: Callable[..., Run], author: Actor, worker: RunWorker
) -> None:
    beside = BESIDE.replace("beside", "last")
    again = runs.replay(project, approved(ASK + PUBLISH + beside).pk, start_at="last", by=author)
    finish(worker)
    again.refresh_from_db()
    assert again.state == "completed" and not again.questions.exists()
