"""Long answers in the memory of the web server, which their clients may not have read yet."""

import threading
import time

_MOST_BYTES = 128 * 1024 * 1024


class Unread:
    """A limited number of bytes that wait for clients. Threads add answers, and the event loop removes them.

    A client that sends the next request on a connection has read the answer before. Others are forgotten after a time
    in which the kernel ends their connection if they do not read.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._answers: dict[str, tuple[int, float]] = {}  # by connection, the oldest first
        self._total = 0
        self._lock = threading.Lock()

    def add(self, connection: str, length: int) -> bool:
        """Return whether the answer fits into the limit."""
        now = time.monotonic()
        with self._lock:
            self._forget(now)
            if self._total + length > _MOST_BYTES:
                return False
            self._remove(connection)
            self._answers[connection] = length, now
            self._total += length
            return True

    def next_request(self, connection: str) -> None:
        if self._answers:
            with self._lock:
                self._remove(connection)

    def _remove(self, connection: str) -> None:
        self._total -= self._answers.pop(connection, (0, 0.0))[0]

    def _forget(self, now: float) -> None:
        while self._answers:
            oldest = next(iter(self._answers))
            if now - self._answers[oldest][1] < self._seconds:
                return
            self._remove(oldest)
