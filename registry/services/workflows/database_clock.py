"""The clock of the database, which all workers share. The clocks of machines may differ by more than a lease."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db import Error, connection

_ASK_AGAIN_SECONDS = 30.0


class DatabaseClock:
    """Asks the database for the time now and then, and counts on from there."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._asked = (float("-inf"), datetime.min.replace(tzinfo=UTC))  # one value, because threads share a clock

    def now(self) -> datetime:
        if self._monotonic() - self._asked[0] > _ASK_AGAIN_SECONDS:
            self._ask()
        at, then = self._asked
        return then + timedelta(seconds=self._monotonic() - at)

    def _ask(self) -> None:
        """Ask for the time. While the database does not answer, count on from the last time it did."""
        try:
            then = database_now()
        except Error:
            if self._asked[0] == float("-inf"):
                raise
            return
        self._asked = (self._monotonic(), then)


def database_now() -> datetime:
    """Return the time of the database. SQLite has that of this machine."""
    if connection.vendor != "postgresql":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found.astimezone(UTC)
