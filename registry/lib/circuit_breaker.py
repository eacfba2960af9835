"""Circuit breakers: a service that fails again and again is left alone for a while.

A breaker is closed at first. After some failures in a row it opens: no call is admitted. After a pause it is half-open
and admits one call, the probe. If the probe succeeds, the breaker closes; if it fails, the breaker stays open for
another pause.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

FAILURES = 5  # in a row
PAUSE_SECONDS = 30.0
MOST_SERVICES = 1_000


class Outcome(Enum):
    """The result of a call for its service. UNKNOWN is for a call that failed before it reached the service."""

    SUCCESS = auto()
    FAILURE = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Admission:
    """A call that may go out. Its outcome counts only if the breaker did not open or close since."""

    service: str
    period: int


@dataclass(slots=True)
class _State:
    """`open_until` is None while the breaker is closed. `probe_until` is the end of the time that a probe gets."""

    period: int
    failures: int = 0
    open_until: float | None = None
    probe_until: float | None = None


class CircuitBreaker:
    """Breakers by the name of a service.

    Only services with failures are remembered, and at most `most` of them: the one that was used least recently is
    forgotten first. A probe whose outcome is never reported counts as lost after another pause.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        failures: int = FAILURES,
        seconds: float = PAUSE_SECONDS,
        most: int = MOST_SERVICES,
    ) -> None:
        self._clock, self._failures, self._seconds, self._most = clock, failures, seconds, most
        self._lock = threading.Lock()
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._periods = 0

    def admit(self, service: str) -> Admission | None:
        """Return an admission whose outcome must be reported, or None if the service must be left alone."""
        with self._lock:
            state = self._states.get(service)
            if state is None:
                return Admission(service, 0)
            self._states.move_to_end(service)
            if state.open_until is None:
                return Admission(service, state.period)
            now = self._clock()
            if now < state.open_until or (state.probe_until is not None and now < state.probe_until):
                return None
            state.probe_until = now + self._seconds
            state.period = self._next_period()  # the outcome of a lost probe does not count any more
            return Admission(service, state.period)

    def seconds_left(self, service: str) -> float:
        """Return the seconds until the next probe may go out, 0 if a call may go out now."""
        with self._lock:
            state = self._states.get(service)
            if state is None or state.open_until is None:
                return 0.0
            return max(0.0, max(state.open_until, state.probe_until or 0.0) - self._clock())

    def report(self, admission: Admission, outcome: Outcome) -> None:
        with self._lock:
            state = self._states.get(admission.service)
            if (state.period if state else 0) != admission.period:
                return
            if outcome is Outcome.SUCCESS:
                self._states.pop(admission.service, None)
            elif outcome is Outcome.FAILURE:
                self._count_failure(admission.service, state or _State(period=0))
            elif state and state.probe_until is not None:
                state.probe_until = None  # the next call is the probe

    def _count_failure(self, service: str, state: _State) -> None:
        state.failures += 1
        if state.failures >= self._failures:
            state.period = self._next_period()
            state.open_until, state.probe_until = self._clock() + self._seconds, None
        self._states[service] = state
        self._states.move_to_end(service)
        while len(self._states) > self._most:
            self._states.popitem(last=False)

    def _next_period(self) -> int:
        self._periods += 1
        return self._periods
