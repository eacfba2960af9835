"""Bars of a waterfall: when each step ran, as parts of the time of the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH = 1_000
_THINNEST = 4  # a call of a millisecond is still seen


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in an SVG of the width WIDTH."""

    x: float
    width: float


def bars(times: Sequence[tuple[datetime, datetime]], start: datetime, end: datetime) -> list[Bar]:
    """Return a bar for each pair of start and end. All are between `start` and `end` of the run."""
    whole = max((end - start).total_seconds(), 0.001)
    return [
        _bar((began - start).total_seconds() / whole, (ended - start).total_seconds() / whole) for began, ended in times
    ]


def _bar(began: float, ended: float) -> Bar:
    left = min(max(began, 0.0), 1.0) * WIDTH
    width = max(min(max(ended, 0.0), 1.0) * WIDTH - left, _THINNEST)
    return Bar(round(min(left, WIDTH - _THINNEST), 1), round(min(width, WIDTH), 1))
