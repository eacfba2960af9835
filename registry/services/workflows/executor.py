"""The executor of tasks: threads of this process."""

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

log = logging.getLogger(__name__)


class ThreadExecutor:
    """Runs functions in at most `threads` threads, and hands their results over in a queue.

    A thread cannot be stopped. One whose task is given up is replaced, and ends with its task.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._tasks: SimpleQueue[tuple[object, Callable[[], Any]] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[object, Any]] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = self._idle = self._lost = 0

    def submit(self, key: object, function: Callable[[], Any]) -> None:
        with self._lock:
            needs_thread = self._idle <= self._tasks.qsize() and self._started - self._lost < self.threads
            if needs_thread:
                self._started += 1
        self._tasks.put((key, function))
        if needs_thread:
            threading.Thread(target=self._work, name="run task", daemon=True).start()

    def results(self, *, timeout: float) -> list[tuple[object, Any]]:
        """Return the results that have arrived. Wait for the first one up to `timeout` seconds."""
        found = []
        try:
            found.append(self._results.get(timeout=timeout) if timeout > 0 else self._results.get_nowait())
            while True:
                found.append(self._results.get_nowait())
        except Empty:
            return found

    def give_up(self) -> None:
        """Replace a thread whose task takes too long."""
        with self._lock:
            self._lost += 1

    @property
    def lost(self) -> int:
        """The number of threads that hang in a task that was given up."""
        return self._lost

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
            key, function = task  # type: ignore[misc]
            self._results.put((key, function()))
