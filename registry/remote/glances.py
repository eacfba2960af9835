"""What was seen of a copy last, so that one that did not change is not read and hashed again with every request.

What was seen holds for as long as names, sizes and times of the files are the same, and for some minutes at most. Files
that changed a moment ago are looked at again: two changes within one tick of a clock look like one.
"""

import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from registry.remote import trees

_KEPT, _FILES = 1_000, 200
_SECONDS = 600.0
_TICK_NS = 2_000_000_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Glance:
    """How a copy and the directory of its records look from outside; `newest` is the latest change in nanoseconds."""

    directory: str
    signature: trees.Signature
    newest: int


def glance(directory: str, records: str) -> Glance | None:
    """None where there is nothing to look at."""
    found = trees.signature(directory)
    if found is None:
        return None
    try:
        beside = os.stat(records).st_mtime_ns  # noqa: PTH116 - asked for every copy of every request
    except OSError:
        beside = 0
    return Glance(directory, (beside, *found[0]), max(beside, found[1]))


class Glances(Generic[T]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[trees.Signature, float, T]] = OrderedDict()

    def get(self, seen: Glance, origin: str) -> T | None:
        with self._lock:
            kept = self._kept.get((seen.directory, origin))
        if kept is None or kept[0] != seen.signature or kept[1] < time.monotonic():
            return None
        return kept[2]

    def put(self, seen: Glance, origin: str, value: T) -> None:
        if len(seen.signature) > _FILES or time.time_ns() - seen.newest < _TICK_NS:
            return
        with self._lock:
            self._kept[seen.directory, origin] = (seen.signature, time.monotonic() + _SECONDS, value)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
