"""Retry policy for emails and webhook deliveries: lease, finish, or try again after a growing delay."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta

from registry.core.text.printable import printable
from registry.models.outgoing import FAILED, Outgoing, is_due

LEASE = timedelta(minutes=2)
RETRIES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
MAX_ATTEMPTS = len(RETRIES) + 1
_JITTER = 0.2
_ERROR_CHARS = 300
_random = random.SystemRandom()

Columns = Mapping[str, object]


def take(row: Outgoing, *, now: datetime) -> bool:
    """Lease the row for one attempt. Fail a row whose workers all ended before they finished."""
    if not row.take_lease(is_due(now), now=now, lease=LEASE):
        return False
    if row.attempts > MAX_ATTEMPTS:
        not_an_attempt = {"attempts": MAX_ATTEMPTS}
        finish(row, FAILED, now=now, error="Each attempt was interrupted.", response=not_an_attempt)
        return False
    return True


def finish(row: Outgoing, state: str, *, now: datetime, error: str = "", response: Columns | None = None) -> None:
    """Store the final state, unless another worker has taken the row. `response` sets further columns."""
    row.update_if_held(
        leased_until=None, state=state, finished_at=now, error=printable(error, _ERROR_CHARS), **(response or {})
    )


def retry_later(row: Outgoing, *, now: datetime, error: str, response: Columns | None = None) -> None:
    """Schedule the next attempt, or fail the row after the last one.

    The delay has jitter, so that rows that failed together are not all retried at the same moment.
    """
    if row.attempts >= MAX_ATTEMPTS:
        finish(row, FAILED, now=now, error=error, response=response)
        return
    delay = RETRIES[row.attempts - 1] * (1 + _JITTER * _random.random())
    row.update_if_held(leased_until=None, due_at=now + delay, error=printable(error, _ERROR_CHARS), **(response or {}))
