"""Counters with a time limit, shared by all processes through the cache.

While the cache is down, each process counts for itself. An outage locks nobody out, and neither rate limits nor the
limit on wrong passwords disappear.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache

T = TypeVar("T")
log = logging.getLogger(__name__)
_local = LocMemCache("counters-of-this-process", {"OPTIONS": {"MAX_ENTRIES": 10_000}})


def count(key: str, *, seconds: int) -> int:
    """Add one and return the new value. The counter disappears `seconds` after its first use."""
    return _with_fallback(lambda store: _count(store, key, seconds))


def uncount(key: str) -> None:
    """Subtract one, if the counter exists."""
    _with_fallback(lambda store: _uncount(store, key))


def forget(key: str) -> None:
    _with_fallback(lambda store: store.delete(key))


def first(key: str, *, seconds: int) -> bool:
    """Return True for the first call with this key, then False until `seconds` have passed."""
    return _with_fallback(lambda store: store.add(key, True, timeout=seconds))


def clear_local() -> None:
    """Forget the counters of this process. Counters in the shared cache stay."""
    _local.clear()


def _with_fallback(act: Callable[[BaseCache], T]) -> T:
    try:
        return act(cache)
    except Exception as error:  # each cache backend raises its own errors
        log.warning("The shared cache cannot be reached, so this process counts for itself: %s", error)
        return act(_local)


def _count(store: BaseCache, key: str, seconds: int) -> int:
    with suppress(ValueError):  # the key exists for all requests but the first, so it is tried before it is created
        return int(store.incr(key))
    store.add(key, 0, timeout=seconds)
    with suppress(ValueError):
        return int(store.incr(key))
    store.set(key, 1, timeout=seconds)  # it expired between the two calls
    return 1


def _uncount(store: BaseCache, key: str) -> None:
    with suppress(ValueError):
        store.decr(key)
