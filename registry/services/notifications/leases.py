"""How rows are sent by one worker at a time: taken for a while, then finished, or put off with growing patience.

A row is changed only if it is still what we saw. Whoever took it and did not come back in time has lost it: what they
say later is not heard.
"""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta

from registry.models.outgoing import FAILED, PENDING, Outgoing, is_due

LEASE = timedelta(minutes=2)
RETRIES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
MOST_ATTEMPTS = len(RETRIES) + 1
_JITTER = 0.2
_ERROR_CHARS = 300
_dice = random.SystemRandom()

Answer = Mapping[str, object] | None  # further columns that say what came back


def take(row: Outgoing, *, now: datetime) -> bool:
    """Makes the row ours until the lease ends. One that was taken too often and never came back is given up."""
    if row.attempts >= MOST_ATTEMPTS:
        finish(row, FAILED, now=now, error="Each try ended before it was done.")
        return False
    until = now + LEASE
    taken = (
        type(row)
        ._default_manager.filter(is_due(now), pk=row.pk, attempts=row.attempts)
        .update(attempts=row.attempts + 1, leased_until=until)
    )
    if taken:
        row.attempts, row.leased_until = row.attempts + 1, until
    return bool(taken)


def finish(row: Outgoing, state: str, *, now: datetime, error: str = "", answer: Answer = None) -> None:
    _settle(row, state=state, finished_at=now, error=plain(error, _ERROR_CHARS), **(answer or {}))


def put_off(row: Outgoing, *, now: datetime, error: str, answer: Answer = None) -> None:
    """The next try comes later each time, and not at the same moment for all that failed together."""
    if row.attempts >= MOST_ATTEMPTS:
        finish(row, FAILED, now=now, error=error, answer=answer)
        return
    pause = RETRIES[row.attempts - 1] * (1 + _JITTER * _dice.random())
    _settle(row, due_at=now + pause, error=plain(error, _ERROR_CHARS), **(answer or {}))


def _settle(row: Outgoing, **values: object) -> None:
    mine = type(row)._default_manager.filter(pk=row.pk, state=PENDING, attempts=row.attempts)
    mine.update(leased_until=None, **values)


def plain(text: str, most: int) -> str:
    """What somebody else wrote, as one can store and show it."""
    shown = (sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return "".join(shown)[:most]
