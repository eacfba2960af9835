"""Admission of requests that wait for other servers, so that they can never occupy all threads of the web process.

A request whose skills are all cached is not counted here and never refused.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from registry.core.errors import Busy, RateLimited
from registry.remote import semaphore
from registry.remote.reach import Bounds

RETRY_SECONDS = 5
PER_TOKEN = 2

# Twice the limit of a request, because the clocks of two machines may differ.
_SLOT_SECONDS = 2 * Bounds().all

_lock = threading.Lock()
_blocked = _shared_blocked = 0
_fetching: Counter[int] = Counter()
_own_threads = 0


def use_own_threads(count: int) -> None:
    """Set the number of threads that this process has for `/resolve` alone. Without, it uses those of all requests."""
    global _own_threads
    _own_threads = count


def most_blocked() -> int:
    """Return how many threads of this process may wait for other servers.

    A quarter of its own threads, or half of the shared ones, stay free for requests whose skills are cached.
    """
    return max(1, _own_threads * 3 // 4 if _own_threads else settings.WEB_THREADS // 2)


def most_fetching() -> int:
    """Return how many requests of this process may download. The others that wait use the same downloads."""
    return min(int(settings.RESOLVE_DOWNLOADS), most_blocked())


@contextmanager
def shared_thread() -> Iterator[None]:
    """Admit work that waits for another server in a thread of all requests. Raise Busy if half of them already do."""
    global _shared_blocked
    with _lock:
        if _shared_blocked + (0 if _own_threads else _blocked) >= max(1, settings.WEB_THREADS // 2):
            raise Busy(
                "This site is waiting for as many other servers as it can at the same time. Nothing was saved. "
                f"Try again in {RETRY_SECONDS} seconds.",
                retry_after=RETRY_SECONDS,
            )
        _shared_blocked += 1
    try:
        yield
    finally:
        with _lock:
            _shared_blocked -= 1


class SiteGate:
    """The gate for one token. Its downloads are also counted across all processes that share `directory`."""

    def __init__(self, directory: Path, token_id: int) -> None:
        self._directory, self._token_id = directory, token_id

    @contextmanager
    def waiting(self) -> Iterator[None]:
        global _blocked
        with _lock:
            if _blocked + (0 if _own_threads else _shared_blocked) >= most_blocked():
                raise _busy()
            _blocked += 1
        try:
            yield
        finally:
            with _lock:
                _blocked -= 1

    @contextmanager
    def fetching(self) -> Iterator[None]:
        with self.waiting(), self._one_of_process(), self._one_of_token():
            yield

    @contextmanager
    def _one_of_process(self) -> Iterator[None]:
        most = most_fetching()
        with _lock:
            if _fetching[self._token_id] >= max(1, most - 1):  # one token never takes every place
                raise _too_many()
            if _fetching.total() >= most:
                raise _busy()
            _fetching[self._token_id] += 1
        try:
            yield
        finally:
            with _lock:
                _fetching[self._token_id] -= 1
                if not _fetching[self._token_id]:
                    del _fetching[self._token_id]

    @contextmanager
    def _one_of_token(self) -> Iterator[None]:
        try:
            with semaphore.slot(self._directory, str(self._token_id), most=PER_TOKEN, seconds=_SLOT_SECONDS):
                yield
        except semaphore.NoFreeSlot:
            raise _too_many() from None


def _too_many() -> RateLimited:
    return RateLimited(
        f"This token already has downloads in progress, and no more are allowed at the same time. Try again in "
        f"{RETRY_SECONDS} seconds. Skills that are already cached can be resolved meanwhile.",
        retry_after=RETRY_SECONDS,
    )


def _busy() -> Busy:
    return Busy(
        f"This site is downloading as many skills as it can at the same time. Try again in {RETRY_SECONDS} seconds. "
        "Skills that are already cached can be resolved meanwhile.",
        retry_after=RETRY_SECONDS,
    )
