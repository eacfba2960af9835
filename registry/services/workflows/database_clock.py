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
        self._asked_at = float("-inf")
        self._then = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        if self._monotonic() - self._asked_at > _ASK_AGAIN_SECONDS:
            self._ask()
        return self._then + timedelta(seconds=self._monotonic() - self._asked_at)

    def _ask(self) -> None:
        """Ask for the time. While the database does not answer, count on from the last time it did."""
        try:
            then = database_now()
        except Error:
            if self._asked_at == float("-inf"):
                raise
            return
        self._then, self._asked_at = then, self._monotonic()


def database_now() -> datetime:
    """Return the time of the database. SQLite has that of this machine."""
    if connection.vendor != "postgresql":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found.astimezone(UTC)
