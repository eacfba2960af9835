"""A state that is computed from files, and checked again after an interval."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

State = TypeVar("State")


class Rechecked(ABC, Generic[State]):
    """One thread checks the state again, while the others go on with the last one. With an interval of 0, none does."""

    def __init__(self, reload_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._reload_seconds, self._clock = reload_seconds, clock
        self._lock = threading.Lock()
        self._last: State | None = None
        self._next_check = 0.0

    def snapshot(self) -> State:
        """Return the state. Only the first call waits for another thread."""
        current = self._last
        if current is None:
            with self._lock:
                return self._last or self._check()
        if self._reload_seconds and self._clock() >= self._next_check and self._lock.acquire(blocking=False):
            try:
                return self._check()
            finally:
                self._lock.release()
        return current

    def refresh(self) -> State:
        """Check the state now, without waiting for the next interval."""
        with self._lock:
            return self._check()

    def _check(self) -> State:
        self._next_check = self._clock() + self._reload_seconds
        self._last = self._look_again(self._last)
        return self._last

    @abstractmethod
    def _look_again(self, last: State | None) -> State:
        """Return the state of now, which is `last` if nothing changed."""
