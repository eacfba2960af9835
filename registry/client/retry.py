"""Retry policy: exponential backoff with jitter."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Temporary failures of the site or of a proxy in front of it.
UNAVAILABLE = frozenset({502, 503, 504})
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Retrying:
    """Delays double from `first` to `longest` seconds, multiplied by a random factor.

    `Retry-After` is respected up to `patience` seconds. Tests pass in `sleep`, `chance` and `now`.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 8.0
    patience: float = 90.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def pause(self, attempt: int, retry_after: float | None = None) -> bool:
        """Wait before the next attempt. Return False if there is none left."""
        if attempt >= self.attempts or (retry_after is not None and retry_after > self.patience):
            return False
        spread = min(self.longest, self.first * 2 ** (attempt - 1)) * self.chance()
        # All clients got the same Retry-After. Jitter keeps them from retrying at the same moment.
        self.sleep(spread if retry_after is None else retry_after + min(1.0, spread))
        return True

    def retry_after(self, header: str | None) -> float | None:
        """Parse `Retry-After`, a number or a date, into seconds. Return None if it is missing or invalid."""
        if not header:
            return None
        if header.strip().isdecimal():
            return float(header)
        try:
            date = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - self.now()).total_seconds())
