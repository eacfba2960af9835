"""The clock of the database, which all workers share. The clocks of machines may differ by more than a lease."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db import connection

_ASK_AGAIN_SECONDS = 30.0


class DatabaseClock:
    """Asks the database for the time now and then, and counts on from there."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._asked_at = float("-inf")
        self._then = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        passed = self._monotonic() - self._asked_at
        if passed > _ASK_AGAIN_SECONDS:
            self._then, self._asked_at, passed = database_now(), self._monotonic(), 0.0
        return self._then + timedelta(seconds=passed)


def database_now() -> datetime:
    """Return the time of the database. SQLite has that of this machine."""
    if connection.vendor != "postgresql":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found.astimezone(UTC)
