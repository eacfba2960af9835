"""Waits for runs: their news, their end, and the places for them."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core.errors import InvalidRequest, NotFound
from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_watch, runs
from registry.services.workflows.run_watch import RunWait
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import ASK, CHAIN, INPUT, finish

TWO_PEOPLE = ASK.format(uses="human.approve", input='{question: "Sure?"}', config="{approvers: {count: 2}}")
TOKEN = 7


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def run(project: Project, workflow: Callable[..., str], author: Actor) -> Run:
    return runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)


@pytest.fixture
def begin(project: Project, run: Run, author: Actor) -> Any:
    """Return a function that begins a wait, and close all waits at the end."""
    begun: list[RunWait] = []

    def act(token: int = TOKEN, **more: Any) -> RunWait | None:
        wait = run_watch.wait(project, run.pk, token_id=token, by=author, **more)
        if wait is not None:
            begun.append(wait)
        return wait

    yield act
    for wait in begun:
        wait.close()


def changes() -> int:
    return Run.objects.get().changes


def test_the_end_of_a_run_is_news_for_everybody(project: Project, run: Run, author: Actor, worker: RunWorker) -> None:
    assert not run_watch.has_news(project, run.pk, by=author)
    finish(worker)
    assert run_watch.has_news(project, run.pk, by=author)
    assert run_watch.has_news(project, run.pk, seen=changes(), by=author)


def test_a_question_is_news_once(
    project: Project, asking: Callable[..., RunQuestion], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question = asking()
    assert run_watch.has_news(project, question.run_id, by=author)
    seen = changes()
    assert not run_watch.has_news(project, question.run_id, seen=seen, by=author)
    questions.approve(project, question.run_id, question.pk, digest=question.digest, by=reviewer)
    assert not run_watch.has_news(project, question.run_id, seen=seen, by=author), "no worker has taken the answer"
    finish(worker)
    assert run_watch.has_news(project, question.run_id, seen=seen, by=author)


def test_an_answered_run_is_no_news_before_a_worker_took_it(
    project: Project, asking: Callable[..., RunQuestion], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    question, value = asking(INPUT), {"number": 3}
    questions.answer(project, question.run_id, question.pk, digest=question.digest, value=value, by=reviewer)
    assert not run_watch.has_news(project, question.run_id, by=author)
    finish(worker)
    assert run_watch.has_news(project, question.run_id, by=author)


def test_one_of_two_approvals_is_news(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(TWO_PEOPLE), by=author)
    finish(worker)
    question, seen = RunQuestion.objects.get(), changes()
    questions.approve(project, run.pk, question.pk, digest=question.digest, by=reviewer)
    assert run_watch.has_news(project, run.pk, seen=seen, by=author)


def test_a_look_costs_one_query(
    project: Project, run: Run, author: Actor, django_assert_num_queries: Callable[[int], Any]
) -> None:
    with django_assert_num_queries(1):
        run_watch.has_news(project, run.pk, by=author)


def test_a_wait_ends_after_its_time(begin: Callable[..., RunWait]) -> None:
    now = [100.0]
    wait = begin(seconds=10, clock=lambda: now[0])
    assert not wait.is_over() and not wait.has_news()
    now[0] = 110.0
    assert wait.is_over() and not wait.is_over(grace=1)
    now[0] = 111.0
    assert wait.is_over(grace=1)


@pytest.mark.parametrize("seconds", [-1, 25.5, 1e9])
def test_a_wait_has_a_limit(begin: Callable[..., RunWait], seconds: float) -> None:
    with pytest.raises(InvalidRequest, match="from 0 to 25"):
        begin(seconds=seconds)


def test_a_token_has_a_few_places_and_others_have_theirs(begin: Callable[..., RunWait | None]) -> None:
    waits = [begin() for _ in range(run_watch.PER_TOKEN)]
    assert None not in waits
    assert begin() is None
    assert begin(token=TOKEN + 1) is not None
    for wait in (waits[0], waits[0]):  # closing twice frees one place
        assert wait is not None
        wait.close()
    assert begin() is not None
    assert begin() is None


def test_a_run_that_cannot_be_seen_has_no_news(other_project: Project, run: Run, operator: Actor) -> None:
    with pytest.raises(NotFound):
        run_watch.has_news(other_project, run.pk, by=operator)
