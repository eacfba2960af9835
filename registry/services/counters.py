"""What all processes count together for a while, in the shared cache.

Where that cannot be reached each process counts for itself: its outage locks nobody out, and passwords still cannot
be tried out without end.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache

T = TypeVar("T")
log = logging.getLogger(__name__)
_own = LocMemCache("counted-by-this-process", {"OPTIONS": {"MAX_ENTRIES": 10_000}})


def count(key: str, *, seconds: int) -> int:
    """How often the key was counted within that time of the first, this one included."""
    return _reached(lambda where: _count(where, key, seconds))


def uncount(key: str) -> None:
    """Takes one back, where there is one."""
    _reached(lambda where: _uncount(where, key))


def forget(key: str) -> None:
    _reached(lambda where: where.delete(key))


def first(key: str, *, seconds: int) -> bool:
    """Whether nobody asked the same within that time."""
    return _reached(lambda where: where.add(key, True, timeout=seconds))


def _reached(act: Callable[[BaseCache], T]) -> T:
    try:
        return act(cache)
    except Exception as error:  # every cache fails in its own way
        log.warning("The shared cache cannot be reached, so this process counts for itself: %s", error)
        return act(_own)


def _count(where: BaseCache, key: str, seconds: int) -> int:
    where.add(key, 0, timeout=seconds)
    try:
        return int(where.incr(key))
    except ValueError:  # it ran out between the two
        where.set(key, 1, timeout=seconds)
        return 1


def _uncount(where: BaseCache, key: str) -> None:
    try:
        where.decr(key)
    except ValueError:
        return
