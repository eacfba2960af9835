"""How often and after how long a request is tried again."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# The site is away for a moment, or somebody in front of it says so.
AWAY = frozenset({502, 503, 504})
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Retrying:
    """Waits double from `first` up to `longest`, each cut to a random part; `Retry-After` is obeyed up to `patience`.

    `sleep`, `chance` and `now` are passed in so that tests neither wait nor guess.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 8.0
    patience: float = 90.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def pause(self, attempt: int, retry_after: float | None = None) -> bool:
        """Waits before the next attempt; False where there is to be none."""
        if attempt >= self.attempts or (retry_after is not None and retry_after > self.patience):
            return False
        spread = min(self.longest, self.first * 2 ** (attempt - 1)) * self.chance()
        # Everybody was told the same second; a little more keeps them from coming back all at once.
        self.sleep(spread if retry_after is None else retry_after + min(1.0, spread))
        return True

    def retry_after(self, header: str | None) -> float | None:
        """Seconds, from a number or a date; None where the header is missing or says nothing of use."""
        if not header:
            return None
        if header.strip().isdecimal():
            return float(header)
        try:
            then = parsedate_to_datetime(header)
        except ValueError:
            return None
        return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - self.now()).total_seconds())
