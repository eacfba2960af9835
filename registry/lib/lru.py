"""Thread-safe caches in process memory that drop the least recently used values first."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

MEBIBYTE = 1024 * 1024
ENTRY_BYTES = 1_000  # of the objects around one cached value, measured

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_caches: "weakref.WeakSet[LruCache[object, object]]" = weakref.WeakSet()


class LruCache(Generic[Key, Value]):
    """Keep at most `capacity` units of values. `put` says how many units a value takes, by default one.

    Use a key from which the value follows completely: an entry is never invalidated, only dropped. A value that is
    larger than `largest` units is not kept, so that one value cannot push out all others.
    """

    def __init__(self, capacity: int, *, largest: int | None = None) -> None:
        self._capacity = capacity
        self._largest = capacity if largest is None else largest
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._used = 0
        _caches.add(self)  # type: ignore[arg-type]

    def get(self, key: Key) -> Value | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Key, value: Value, size: int = 1) -> None:
        if size > self._largest:
            return
        with self._lock:
            _, replaced = self._entries.pop(key, (None, 0))
            self._entries[key] = value, size
            self._used += size - replaced
            while self._used > self._capacity:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._used -= dropped

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._used = 0


class ByteCache(LruCache[str, Value]):
    """A cache whose units are bytes. The key and the bookkeeping of an entry count too, so that small values fit in."""

    def put(self, key: str, value: Value, size: int = 0) -> None:
        super().put(key, value, size + len(key) + ENTRY_BYTES)


def clear_all() -> None:
    """Empty every cache of this process, as if it had just started."""
    for cache in list(_caches):
        cache.clear()
