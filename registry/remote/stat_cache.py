"""Cache by stat signatures, so that unchanged directories are not read and hashed again with every request.

An entry is valid while names, sizes and times of the files are the same, and for ten minutes at most. Files that
changed within the last two seconds are not cached, because two changes within one tick of the clock look the same.
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


class StatCache(Generic[T]):
    """Values by directory and key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[list[directories.Signature], float, T]] = OrderedDict()

    def get(self, directory: str, asked: str) -> T | None:
        with self._lock:
            kept = self._kept.get((directory, asked))
        if kept is None or kept[1] < time.monotonic() or not directories.unchanged(kept[0]):
            return None
        return kept[2]

    def put(self, directory: str, asked: str, signatures_of: list[directories.Signature], seen: T) -> None:
        """Store a value. Take the signatures before reading, so that a change during the read is noticed."""
        newest = max((max(one[3:]) for one in signatures_of), default=0)
        if not signatures_of or len(signatures_of) > _FILES or time.time_ns() - newest < _TICK_NS:
            return
        with self._lock:
            self._kept[directory, asked] = (signatures_of, time.monotonic() + _SECONDS, seen)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def signatures_of(directory: str, records: str) -> list[directories.Signature]:
    """Return stat signatures of a cached skill and its records; empty if unreadable."""
    try:
        return [*directories.signatures(directory), directories.signature(records)]
    except OSError:
        return []
