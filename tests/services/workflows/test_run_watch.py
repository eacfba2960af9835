"""Waits for runs: they end with news, keep no connection, and are limited in time and number."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from registry.core.errors import InvalidRequest, NotFound
from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_watch, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import ASK, CHAIN, INPUT, finish

TWO_PEOPLE = ASK.format(uses="human.approve", input='{question: "Sure?"}', config="{approvers: {count: 2}}")


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def run(project: Project, workflow: Callable[..., str], author: Actor) -> Run:
    return runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)


def after(*actions: Callable[[], object]) -> Callable[[float], None]:
    """Return a sleep in which the next of these actions happens."""
    left: Iterator[Callable[[], object]] = iter(actions)

    def sleep(seconds: float) -> None:
        next(left)()

    return sleep


def nothing() -> None:
    pass


def never(seconds: float) -> None:
    raise AssertionError("It waited.")


def test_a_wait_ends_when_the_run_has_ended(project: Project, run: Run, author: Actor, worker: RunWorker) -> None:
    sleep = after(nothing, lambda: finish(worker))
    watched = run_watch.wait(project, run.pk, sleep=sleep, by=author)
    assert (watched.run.state, watched.run.outputs, watched.has_news) == ("completed", {"text": "Hello Ada"}, True)


def test_a_finished_run_is_not_waited_for(project: Project, run: Run, author: Actor, worker: RunWorker) -> None:
    finish(worker)
    changes = Run.objects.get().changes
    assert run_watch.wait(project, run.pk, seen=changes, sleep=never, by=author).has_news


def test_a_question_is_news_once(
    project: Project, asking: Callable[..., RunQuestion], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking()
    first = run_watch.wait(project, question.run_id, sleep=never, by=author)
    assert (first.run.state, first.has_news) == ("waiting", True)

    def answer() -> None:
        questions.approve(project, question.run_id, question.pk, digest=question.digest, by=reviewer)

    sleep = after(nothing, answer, lambda: finish(worker))
    watched = run_watch.wait(project, question.run_id, seen=first.run.changes, sleep=sleep, by=author)
    assert watched.run.state == "completed"


def test_an_answered_run_is_no_news_before_a_worker_took_it(
    project: Project, asking: Callable[..., RunQuestion], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking(INPUT)
    questions.answer(
        project, question.run_id, question.pk, digest=question.digest, value={"number": 3}, by=reviewer
    )  # fmt: skip
    sleep = after(lambda: finish(worker))
    assert run_watch.wait(project, question.run_id, sleep=sleep, by=author).run.state == "completed"


def test_one_of_two_approvals_is_news(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(TWO_PEOPLE), by=author)
    finish(worker)
    question, seen = RunQuestion.objects.get(), Run.objects.get().changes
    sleep = after(lambda: questions.approve(project, run.pk, question.pk, digest=question.digest, by=reviewer))
    watched = run_watch.wait(project, run.pk, seen=seen, sleep=sleep, by=author)
    assert (watched.run.state, watched.has_news) == ("waiting", True)


def test_a_wait_ends_after_its_time(project: Project, run: Run, author: Actor) -> None:
    pauses: list[float] = []
    watched = run_watch.wait(
        project, run.pk, seconds=10, sleep=pauses.append, clock=lambda: 100 + sum(pauses), by=author
    )
    assert (watched.run.state, watched.has_news, watched.is_refused) == ("queued", False, False)
    assert sum(pauses) == pytest.approx(10)
    assert len(pauses) < 20 and max(pauses) == 1.0


@pytest.mark.parametrize("seconds", [-1, 25.5, 1e9])
def test_a_wait_has_a_limit(project: Project, run: Run, author: Actor, seconds: float) -> None:
    with pytest.raises(InvalidRequest, match="from 0 to 25"):
        run_watch.wait(project, run.pk, seconds=seconds, sleep=never, by=author)


def test_only_a_quarter_of_the_threads_waits(
    project: Project, run: Run, author: Actor, worker: RunWorker, settings: Any
) -> None:
    settings.WEB_THREADS = 8
    refused: list[bool] = []

    def wait_too(seconds: float) -> None:
        watched = run_watch.wait(project, run.pk, sleep=wait_too, by=author)
        refused.append(watched.is_refused)
        finish(worker)

    assert run_watch.wait(project, run.pk, sleep=wait_too, by=author).has_news
    assert refused == [True, False], "two wait, and the third is refused"


def test_a_place_is_free_again_after_a_failure(project: Project, run: Run, author: Actor) -> None:
    with pytest.raises(AssertionError):
        run_watch.wait(project, run.pk, sleep=never, by=author)
    with pytest.raises(AssertionError):
        run_watch.wait(project, run.pk, sleep=never, by=author)


def test_a_run_that_cannot_be_seen_is_not_waited_for(other_project: Project, run: Run, operator: Actor) -> None:
    with pytest.raises(NotFound):
        run_watch.wait(other_project, run.pk, sleep=never, by=operator)


@pytest.mark.django_db(transaction=True)
def test_a_wait_holds_no_connection(
    project: Project, workflow: Callable[..., str], author: Actor, operator: Actor
) -> None:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    held = []

    def sleep(seconds: float) -> None:
        held.append(connection.connection is not None and not connection.is_in_memory_db())
        runs.cancel(project, run.pk, by=operator)
        RunWorker(poll_seconds=0).work()

    assert run_watch.wait(project, run.pk, sleep=sleep, by=author).run.state == "cancelled"
    assert held == [False]
