"""Executors carry tasks out, away from the thread that decides. The one here has threads of this process."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from registry.core.workflows.tasks import Outcome, Task
from registry.services.workflows.held_runs import HeldRun

Key = tuple[int, int, str]  # the run, its fence, and the path
GRACE_SECONDS = 2.0  # for a call to notice its own time limit


class Executor(Protocol):
    """The thread that decides calls every method, after it stored the decision with the tasks.

    `stores_tasks` is true if tasks are rows, which the decision stores too and which outlive the worker. `most_tasks`
    is how many tasks of one run it can do at the same time.
    """

    stores_tasks: bool

    @property
    def most_tasks(self) -> int: ...

    @property
    def is_stuck(self) -> bool:
        """Return whether it cannot take any further task."""

    def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
        """Start a task. `perform` does it in this process."""

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        """Return the outcomes that have arrived. Wait for the first one up to `timeout` seconds.

        A task without an outcome took longer than it may.
        """


def configured() -> Executor:
    """Return the executor of the settings: Celery if there is a broker, otherwise threads."""
    if settings.CELERY_BROKER_URL:  # not a plain import, because the package celery is optional
        executor: Executor = import_string("registry.services.workflows.celery_executor.CeleryExecutor")()
        return executor
    return ThreadExecutor(settings.WORKFLOW_THREADS)


@dataclass(slots=True)
class _Started:
    key: Key
    seconds: float
    give_up_at: float = float("inf")  # known as soon as a thread begins with the task


class ThreadExecutor:
    """Runs tasks in at most `threads` threads, and hands their outcomes over in a queue.

    A thread cannot be stopped. One whose task is given up is replaced, and ends with its task.
    """

    stores_tasks = False

    def __init__(self, threads: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.threads = threads
        self._monotonic = monotonic
        self._numbers = count()
        self._out: dict[int, _Started] = {}
        self._tasks: SimpleQueue[tuple[int, Callable[[], Outcome]]] = SimpleQueue()
        self._results: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = self._idle = self._lost = 0

    @property
    def most_tasks(self) -> int:
        return self.threads

    @property
    def is_stuck(self) -> bool:
        return self._lost >= self.threads

    def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
        number = next(self._numbers)
        key = (held.run.pk, held.run.fence, task.path)
        self._out[number] = _Started(key, task.seconds * task.calls + GRACE_SECONDS)
        with self._lock:
            needs_thread = self._idle <= self._tasks.qsize() and self._started - self._lost < self.threads
            if needs_thread:
                self._started += 1
        self._tasks.put((number, perform))
        if needs_thread:
            threading.Thread(target=self._work, name="run task", daemon=True).start()

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        found: list[tuple[Key, Outcome | None]] = []
        found += [(self._out.pop(number).key, outcome) for number, outcome in self._arrived(timeout)]
        now = self._monotonic()
        with self._lock:
            for number in [number for number, started in self._out.items() if started.give_up_at <= now]:
                found.append((self._out.pop(number).key, None))
                self._lost += 1
        return found

    def _arrived(self, timeout: float) -> list[tuple[int, Outcome]]:
        arrived = []
        try:
            arrived.append(self._results.get(timeout=timeout) if timeout > 0 else self._results.get_nowait())
            while True:
                arrived.append(self._results.get_nowait())
        except Empty:
            return arrived

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
                surplus = self._started - self._lost > self.threads
            task = None if surplus else self._tasks.get()
            with self._lock:
                self._idle -= 1
                if task is None:
                    self._started -= 1
                    return
            number, perform = task
            started = self._out[number]
            started.give_up_at = self._monotonic() + started.seconds
            self._finish(number, perform())

    def _finish(self, number: int, outcome: Outcome) -> None:
        with self._lock:
            if number in self._out:
                self._out[number].give_up_at = float("inf")
                self._results.put((number, outcome))
            else:  # it was given up, and this thread was replaced
                self._lost -= 1
