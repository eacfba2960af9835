"""A bounded number of holders in this process, in total and for each key."""

import threading
from collections import Counter
from collections.abc import Hashable


class Places:
    """At most `total` places, and `each` of them for the same key."""

    def __init__(self, total: int, each: int) -> None:
        self.total, self.each = total, each
        self._lock = threading.Lock()
        self._taken: Counter[Hashable] = Counter()

    def take(self, key: Hashable) -> bool:
        """Take a place, and return True. Return False if there is none for this key."""
        with self._lock:
            if self._taken[key] >= self.each or self._taken.total() >= self.total:
                return False
            self._taken[key] += 1
            return True

    def has_taken_all(self, key: Hashable) -> bool:
        """Return whether this key has as many places as it may have."""
        with self._lock:
            return self._taken[key] >= self.each

    def leave(self, key: Hashable) -> None:
        with self._lock:
            self._taken[key] -= 1
            if self._taken[key] <= 0:
                del self._taken[key]
