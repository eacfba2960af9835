"""Steps run in order with time limits, and a step that hangs blocks neither its caller nor later runs."""

import multiprocessing
import threading
from collections.abc import Callable, Iterator

import pytest

from registry.lib.steps import BUSY, FAILED, HANGS, OK, RESTS, SKIPPED, TIMEOUT, UNAVAILABLE, Step, StepRunner

LONG = 60.0


class Hanging:
    """A step that hangs until it is released.

    Its `clock` counts the calls, so the limit of a step is over once it was called, however busy the machine is.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.release = threading.Event()
        self.returned = threading.Event()

    def __call__(self) -> str:
        self.calls += 1
        self.release.wait()
        self.returned.set()
        return "late"

    def clock(self) -> float:
        return float(self.calls)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    step = Hanging()
    yield step
    step.release.set()


def statuses(runner: StepRunner, *steps: Step[str]) -> list[str]:
    return [outcome.status for outcome in runner.run(steps)]


def test_steps_run_in_order_on_one_thread() -> None:
    runner, threads = StepRunner(1), []
    steps = [Step(name, LONG, lambda: threads.append(threading.get_ident())) for name in "abc"]
    for _ in range(3):
        assert [outcome.name for outcome in runner.run(steps)] == ["a", "b", "c"]
    assert len(set(threads)) == 1
    assert threading.get_ident() not in threads


def test_no_steps_give_no_outcome() -> None:
    assert StepRunner(1).run([]) == []


def test_steps_after_a_value_that_is_enough_are_skipped() -> None:
    steps = [Step("a", LONG, lambda: 1), Step("b", LONG, lambda: 2), Step("c", LONG, lambda: 3)]
    outcomes = StepRunner(1).run(steps, enough=lambda value: value == 2)
    assert [(outcome.status, outcome.value) for outcome in outcomes] == [(OK, 1), (OK, 2), (SKIPPED, None)]


def test_a_step_that_raises_does_not_stop_the_others() -> None:
    outcomes = StepRunner(1).run([Step("a", LONG, lambda: 1 // 0), Step("b", LONG, lambda: 2)])
    assert [outcome.status for outcome in outcomes] == [FAILED, OK]
    assert isinstance(outcomes[0].error, ZeroDivisionError)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_is_raised_in_the_caller(interrupt: type[BaseException]) -> None:
    def stop() -> str:
        raise interrupt

    runner = StepRunner(1)
    with pytest.raises(interrupt):
        runner.run([Step("a", LONG, stop), Step("b", LONG, lambda: "")])
    assert statuses(runner, Step("b", LONG, lambda: "")) == [OK]


def test_a_step_that_hangs_is_left_and_not_started_again_until_it_returns(hanging: Hanging) -> None:
    runner = StepRunner(2, clock=hanging.clock)
    steps = Step("slow", 0.01, hanging), Step("quick", LONG, lambda: "")
    assert statuses(runner, *steps) == [TIMEOUT, OK]
    for _ in range(20):
        outcomes = runner.run(steps)
        assert [(outcome.status, outcome.detail) for outcome in outcomes] == [(UNAVAILABLE, HANGS), (OK, "")]
    assert hanging.calls == 1
    hanging.release.set()
    hanging.returned.wait()
    while statuses(runner, Step("slow", LONG, lambda: "")) == [UNAVAILABLE]:
        pass  # the thread has returned from the step, but has not said so yet


def test_hanging_steps_never_use_more_threads_than_allowed(hanging: Hanging) -> None:
    runner = StepRunner(2, clock=hanging.clock)
    before = threading.active_count()
    found = runner.run([Step(name, 0.01, hanging) for name in "abcd"])
    assert [(outcome.status, outcome.detail) for outcome in found[2:]] == [(UNAVAILABLE, BUSY)] * 2
    assert [outcome.status for outcome in found[:2]] == [TIMEOUT] * 2
    assert threading.active_count() - before <= 2


class LateRunner(StepRunner):
    """A runner whose threads start when the test says so, as on a machine that is too busy."""

    def __init__(self) -> None:
        super().__init__(1)
        self.waiting: list[Callable[[], None]] = []

    def start(self, work: Callable[[], None]) -> bool:
        self.waiting.append(work)
        return True


def test_a_step_that_a_busy_machine_did_not_start_can_be_called_again() -> None:
    runner = LateRunner()
    calls: list[str] = []
    late = runner.run([Step("a", 0.01, lambda: calls.append("late"), rest=LONG)])
    assert [(outcome.status, outcome.detail) for outcome in late] == [(UNAVAILABLE, BUSY)]
    for work in runner.waiting:
        work()  # the thread starts at last, and finds that nobody waits for it
    assert calls == []
    assert runner.obstacle("a") == ""


def test_a_step_rests_after_a_failure() -> None:
    now = [0.0]
    runner = StepRunner(1, clock=lambda: now[0])
    failing = Step("a", LONG, lambda: str(1 // 0), rest=30.0)
    assert [outcome.status for outcome in runner.run([failing])] == [FAILED]
    now[0] = 29.0
    assert [(outcome.status, outcome.detail) for outcome in runner.run([failing])] == [(UNAVAILABLE, RESTS)]
    now[0] = 31.0
    assert [outcome.status for outcome in runner.run([failing])] == [FAILED]


_forked = StepRunner(1)


def _in_child(answer: "multiprocessing.SimpleQueue[list[str]]") -> None:
    answer.put(statuses(_forked, Step("a", LONG, lambda: "")))


@pytest.mark.processes
def test_a_forked_process_starts_its_own_threads() -> None:
    assert statuses(_forked, Step("a", LONG, lambda: "")) == [OK]
    context = multiprocessing.get_context("fork")
    answer: multiprocessing.SimpleQueue[list[str]] = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(answer,))
    child.start()
    child.join(30)
    assert answer.get() == [OK]
