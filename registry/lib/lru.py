"""Finished answers, kept in the process under the tag that says what they are a function of."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_KEPT_BYTES = 64 * 1024 * 1024
_KEPT_ANSWER_BYTES = 2 * 1024 * 1024

Kept = TypeVar("Kept")


class Answers(Generic[Kept]):
    """Recent answers by tag, bounded in bytes, the least recently used dropped first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Kept, int]] = OrderedDict()
        self._bytes = 0

    def get(self, tag: str) -> Kept | None:
        with self._lock:
            found = self._kept.get(tag)
            if found is None:
                return None
            self._kept.move_to_end(tag)
            return found[0]

    def put(self, tag: str, answer: Kept, size: int) -> None:
        if size > _KEPT_ANSWER_BYTES:
            return
        with self._lock:
            if tag not in self._kept:
                self._kept[tag] = answer, size
                self._bytes += size
            while self._bytes > _KEPT_BYTES:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= dropped
