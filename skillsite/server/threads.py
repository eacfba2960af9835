"""Threads that run Django. They never wait for a client."""

import logging
import queue
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

_Job = Callable[[], object]
_STOP_SECONDS = 5.0


class Threads:
    """A fixed number of threads. They stay alive, so each keeps its database connection."""

    def __init__(self, count: int, name: str) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: _Job) -> None:
        self._jobs.put(job)

    def stop(self) -> None:
        """Finish the waiting jobs, and wait for a limited time."""
        for _ in self._threads:
            self._jobs.put(None)
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                logger.exception("A web thread failed.")
