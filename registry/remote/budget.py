"""Bytes that one request may download and unpack, counted as they arrive."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from registry.core.limits import MIB
from registry.remote.outbound_http import Failure

# Bodies up to this size may be in memory at the same time. Larger ones take turns.
SMALL_BYTES = 4 * MIB


class Exceeded(Failure):
    """A limit of this request or of its sender is exceeded. Others may still fetch the same skill."""


class Budget:
    """The budget of one request. Its downloads share it.

    At most one download of a request is large at any time, and at most one is unpacked. So a request never holds more
    than one bundle in memory, beside a few small bodies.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._arrived = self._unpacked = 0
        self._lock = threading.Lock()
        self._large = threading.Lock()

    @contextmanager
    def download(self) -> Iterator["MeteredDownload"]:
        download = MeteredDownload(self)
        try:
            yield download
        finally:
            download.end()

    def unpacked(self, size: int) -> None:
        """Count the size of an unpacked bundle. Raise Exceeded if it exceeds the budget."""
        with self._lock:
            self._unpacked += size
            self._check(self._unpacked)

    def _arrive(self, size: int) -> None:
        with self._lock:
            self._arrived += size
            self._check(self._arrived)

    def _check(self, used: int) -> None:
        if used > self._most:
            raise Exceeded(
                f"The skills of this request have more than {self._most:,} bytes in sum, the limit for a request. "
                "Send several requests with fewer definitions."
            )


class MeteredDownload:
    """One download. `count` is called with the size of each part as it arrives."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._size, self._is_large = budget, 0, False

    def count(self, size: int) -> None:
        self._budget._arrive(size)
        self._size += size
        if self._size > SMALL_BYTES:
            self.wait_for_turn()

    def wait_for_turn(self) -> None:
        """Wait until no other download of this request is large or being unpacked. It then keeps its turn."""
        if not self._is_large:
            self._budget._large.acquire()
            self._is_large = True

    def end(self) -> None:
        if self._is_large:
            self._is_large = False
            self._budget._large.release()
