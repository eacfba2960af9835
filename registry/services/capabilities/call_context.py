"""The clock of a call of a built-in capability."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from registry.core.workflows.failures import Code, StepFailed


class CallContext:
    """Time for a built-in capability. It may sleep until its time limit, and no longer."""

    def __init__(
        self, seconds: float, *, clock: Callable[[], float], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._seconds, self._clock, self._sleep, self._deadline = seconds, clock, sleep, clock() + seconds

    @property
    def remaining_seconds(self) -> float:
        return max(0.0, self._deadline - self._clock())

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        left = self.remaining_seconds
        self._sleep(max(0.0, min(seconds, left)))
        if seconds > left:
            raise StepFailed(Code.TIMEOUT, f"The call took longer than {self._seconds:g} seconds.")
