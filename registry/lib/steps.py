"""Steps that run one after the other on a helper thread, each with a time limit.

A step that hangs does not hang its caller: the caller goes on with the next step on another thread. Until the step
returns, it is not started again, so that hanging steps do not pile up threads.
"""

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

OK, FAILED, TIMEOUT, UNAVAILABLE, SKIPPED = "ok", "failed", "timeout", "unavailable", "skipped"

HANGS = "It has not returned from an earlier call."
RESTS = "It failed a moment ago."
BUSY = "No thread is free."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A call with its time limit. After a failure or a timeout, it is not called again for `rest` seconds."""

    name: str
    seconds: float
    call: Callable[[], T]
    rest: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The result of a step: `value` if its status is OK, `error` if it is FAILED."""

    name: str
    status: str
    seconds: float = 0.0
    value: T | None = None
    error: Exception | None = None
    detail: str = ""


class Prepared(Generic[T]):
    """A value that the first step makes from a given one, for all steps of a run.

    If this fails, all steps get the given value. If it hangs, so does the first step, and the others get the given
    value, also when it returns later: they all work with the same one.
    """

    def __init__(self, given: T, prepare: Callable[[T], T] | None = None) -> None:
        self._value, self._prepare = given, prepare
        self._settled = False
        self._lock = threading.Lock()

    def get(self) -> T:
        with self._lock:
            prepare, self._prepare = self._prepare, None
            if prepare is None:
                self._settled = True
                return self._value
        prepared = self._value
        with suppress(Exception):
            prepared = prepare(self._value)
        with self._lock:
            if not self._settled:
                self._value, self._settled = prepared, True
            return self._value


class StepRunner:
    """Runs steps on at most `threads` threads. They are created when they are needed, and then kept."""

    def __init__(self, threads: int, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._most = threads
        self._clock = clock
        self._reset()
        _runners.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Callable[[], None]]] = []
        self._threads = 0
        self._hanging: Counter[str] = Counter()
        self._rest_until: dict[str, float] = {}

    def run(self, steps: Sequence[Step[T]], *, enough: Callable[[T], bool] = lambda value: False) -> list[Outcome[T]]:
        """Return the outcome of each step in order. After a value that is enough, the steps that follow are skipped.

        An exception that is not an Exception, such as KeyboardInterrupt, is raised.
        """
        return _Run(self, steps, enough).outcomes()

    def start(self, work: Callable[[], None]) -> bool:
        """Run `work` on an idle or a new thread. Return False if all threads are busy."""
        with self._lock:
            if self._idle:
                self._idle.pop().put(work)
                return True
            if self._threads >= self._most:
                return False
            self._threads += 1
        mailbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        mailbox.put(work)
        # A daemon, because a step that hangs must not keep the process from ending.
        threading.Thread(target=self._work, args=(mailbox,), name="step", daemon=True).start()
        return True

    def _work(self, mailbox: "SimpleQueue[Callable[[], None]]") -> None:
        while True:
            mailbox.get()()
            with self._lock:
                self._idle.append(mailbox)

    def obstacle(self, name: str) -> str:
        """Return why a step must not be started now, or an empty string."""
        with self._lock:
            if self._hanging[name]:
                return HANGS
            return RESTS if self._clock() < self._rest_until.get(name, 0.0) else ""

    def failed(self, step: Step[T]) -> None:
        if step.rest:
            with self._lock:
                self._rest_until[step.name] = self._clock() + step.rest

    def hangs(self, name: str) -> None:
        with self._lock:
            self._hanging[name] += 1

    def returned(self, name: str) -> None:
        with self._lock:
            self._hanging[name] -= 1

    def now(self) -> float:
        return self._clock()


class _Run(Generic[T]):
    """One run. The thread that owns it works off the steps; the caller takes it away when a step hangs."""

    def __init__(self, runner: StepRunner, steps: Sequence[Step[T]], enough: Callable[[T], bool]) -> None:
        self._runner, self._steps, self._enough = runner, steps, enough
        self._changed = threading.Condition()
        self._owner = 0
        self._started = 0.0  # of the step that runs
        self._calling = False  # whether the owner has begun the step
        self._outcomes: list[Outcome[T]] = []
        self._interrupt: BaseException | None = None

    def outcomes(self) -> list[Outcome[T]]:
        with self._changed:
            self._hand_over()
            while not self._finished():
                step = self._steps[len(self._outcomes)]
                left = self._started + step.seconds - self._runner.now()
                if left > 0:
                    self._changed.wait(left)
                else:
                    self._give_up(step)
        if self._interrupt is not None:
            raise self._interrupt
        return self._outcomes

    def _finished(self) -> bool:
        return self._interrupt is not None or len(self._outcomes) == len(self._steps)

    def _give_up(self, step: Step[T]) -> None:
        if self._calling:
            self._runner.hangs(step.name)
            self._runner.failed(step)
            detail = f"It took longer than {step.seconds:g} seconds."
            self._outcomes.append(Outcome(step.name, TIMEOUT, step.seconds, detail=detail))
        else:  # A busy machine has not started the thread. The step itself is not to blame.
            self._outcomes.append(Outcome(step.name, UNAVAILABLE, step.seconds, detail=BUSY))
        self._hand_over()

    def _hand_over(self) -> None:
        """Give the remaining steps to a new owner."""
        self._owner += 1
        self._calling = False
        self._started = self._runner.now()
        owner = self._owner
        if not self._finished() and not self._runner.start(lambda: self._work(owner)):
            self._leave_out(UNAVAILABLE, BUSY)

    def _leave_out(self, status: str, detail: str = "") -> None:
        self._outcomes.extend(Outcome(step.name, status, detail=detail) for step in self._steps[len(self._outcomes) :])

    def _work(self, owner: int) -> None:
        while True:
            with self._changed:
                if owner != self._owner or self._finished():
                    self._changed.notify()
                    return
                step = self._steps[len(self._outcomes)]
                if obstacle := self._runner.obstacle(step.name):
                    self._outcomes.append(Outcome(step.name, UNAVAILABLE, detail=obstacle))
                    continue
                self._started = self._runner.now()
                self._calling = True
            outcome, enough = self._call(step)
            with self._changed:
                if owner != self._owner:
                    self._runner.returned(step.name)
                    return
                self._calling = False
                self._started = (
                    self._runner.now()
                )  # or the caller would measure the next step from the start of this one
                self._outcomes.append(outcome)
                if enough:
                    self._leave_out(SKIPPED)

    def _call(self, step: Step[T]) -> tuple[Outcome[T], bool]:
        started = self._runner.now()
        try:
            value = step.call()
            enough = self._enough(value)
        except Exception as error:
            self._runner.failed(step)
            return Outcome(step.name, FAILED, self._runner.now() - started, error=error), False
        except BaseException as interrupt:
            self._interrupt = interrupt
            return Outcome(step.name, FAILED), True
        return Outcome(step.name, OK, self._runner.now() - started, value), enough


_runners: "weakref.WeakSet[StepRunner]" = weakref.WeakSet()


def _forget_threads() -> None:
    """Start without threads after a fork: a child process has none of its parent’s."""
    for runner in list(_runners):
        runner._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
