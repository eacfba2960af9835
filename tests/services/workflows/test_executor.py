"""Threads that carry tasks out: their outcomes, their time limits, and threads that hang."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from registry.core.workflows.tasks import Outcome
from registry.services.workflows.executor import GRACE_SECONDS, ThreadExecutor
from tests.effort import PATIENCE

RUN = SimpleNamespace(run=SimpleNamespace(pk=1, fence=2))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def start(executor: ThreadExecutor, path: str, perform: Any, seconds: float = 10.0) -> None:
    executor.start(RUN, SimpleNamespace(path=path, seconds=seconds, calls=1), perform)  # type: ignore[arg-type]


def wait_for(event: threading.Event) -> None:
    assert event.wait(PATIENCE)


def test_outcomes_arrive_with_their_run_fence_and_path(clock: Clock) -> None:
    executor = ThreadExecutor(2, clock)
    start(executor, "one", lambda: Outcome(output={"value": 1}))
    assert executor.results({}, timeout=PATIENCE) == [((1, 2, "one"), Outcome(output={"value": 1}))]
    assert executor.results({}, timeout=0) == []


def test_the_time_limit_does_not_run_while_a_task_waits_for_a_thread(clock: Clock) -> None:
    executor, begun, go_on = ThreadExecutor(1, clock), threading.Event(), threading.Event()

    def hold() -> Outcome:
        begun.set()
        wait_for(go_on)
        return Outcome()

    start(executor, "first", hold, seconds=1_000)
    wait_for(begun)
    start(executor, "second", Outcome, seconds=1)
    clock.now = 900
    assert executor.results({}, timeout=0) == []
    go_on.set()
    found = []
    while len(found) < 2:
        found += executor.results({}, timeout=PATIENCE)
    assert [(key[2], outcome) for key, outcome in found] == [("first", Outcome()), ("second", Outcome())]


def test_a_task_that_takes_too_long_is_given_up_and_its_outcome_dropped(clock: Clock) -> None:
    executor, begun, go_on, ended = ThreadExecutor(1, clock), threading.Event(), threading.Event(), threading.Event()

    def hang() -> Outcome:
        begun.set()
        wait_for(go_on)
        return Outcome(output="too late")

    start(executor, "hangs", hang, seconds=5)
    wait_for(begun)
    clock.now = 5 + GRACE_SECONDS
    assert executor.results({}, timeout=0) == [((1, 2, "hangs"), None)]
    assert executor.is_stuck
    start(executor, "next", lambda: Outcome(output="in another thread"))
    assert executor.results({}, timeout=PATIENCE) == [((1, 2, "next"), Outcome(output="in another thread"))]
    go_on.set()
    start(executor, "last", lambda: ended.set() or Outcome())  # type: ignore[func-returns-value]
    wait_for(ended)
    assert [key for key, _ in executor.results({}, timeout=PATIENCE)] == [(1, 2, "last")]


def test_a_worker_recovers_when_a_hanging_thread_ends(clock: Clock) -> None:
    executor, begun, go_on = ThreadExecutor(1, clock), threading.Event(), threading.Event()

    def hang() -> Outcome:
        begun.set()
        wait_for(go_on)
        return Outcome()

    start(executor, "hangs", hang, seconds=5)
    wait_for(begun)
    clock.now = 100
    executor.results({}, timeout=0)
    go_on.set()
    for number in range(3):  # whichever thread takes them
        start(executor, f"{number}", Outcome)
        assert executor.results({}, timeout=PATIENCE)
    pause = threading.Event()
    while executor.is_stuck:
        pause.wait(0.001)
