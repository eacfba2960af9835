"""What was seen of a copy last, so that one that did not change is not read and hashed again with every request.

What was seen holds for as long as names, sizes and times of the files are the same, and for some minutes at most. Files
that changed a moment ago are looked at again: two changes within one tick of a clock look like one.
"""

import threading
import time
from collections import OrderedDict
from typing import Generic, TypeVar

from registry.remote import directories

_KEPT, _FILES = 1_000, 200
_SECONDS = 600.0
_TICK_NS = 2_000_000_000

T = TypeVar("T")


class Glances(Generic[T]):
    """By directory and by what was asked about it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[list[directories.Sign], float, T]] = OrderedDict()

    def get(self, directory: str, asked: str) -> T | None:
        with self._lock:
            kept = self._kept.get((directory, asked))
        if kept is None or kept[1] < time.monotonic() or not directories.is_as_signed(kept[0]):
            return None
        return kept[2]

    def put(self, directory: str, asked: str, signed: list[directories.Sign], seen: T) -> None:
        """`signed` before it was read: a change while it was read is then a change since."""
        newest = max((max(one[3:]) for one in signed), default=0)
        if not signed or len(signed) > _FILES or time.time_ns() - newest < _TICK_NS:
            return
        with self._lock:
            self._kept[directory, asked] = (signed, time.monotonic() + _SECONDS, seen)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def signed(directory: str, records: str) -> list[directories.Sign]:
    """Those of a copy, and of the directory of its records; none where it cannot be looked at."""
    try:
        return [*directories.signs(directory), directories.sign(records)]
    except OSError:
        return []
