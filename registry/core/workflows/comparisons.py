"""Comparisons of JSON values, which never fail because of a type and never take long.

1 equals 1.0, but neither equals true or "1". Numbers are ordered among each other, and so are texts, by code points.
Everything else has no order, so `<`, `<=`, `>` and `>=` are false.
"""

import operator
from collections.abc import Callable, Mapping

from registry.core.workflows.values import Json

MOST_WORK = 1_000_000  # compared values; long texts count once for each 100 characters
ORDERS: Mapping[str, Callable[[Json, Json], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class TooMuchWork(Exception):
    """The comparison stopped, because the values are too large."""


class Work:
    """Count the work of comparisons that belong together, and stop them at a limit."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._most = self._left = most
        self.spent = 0

    def spend(self, amount: int) -> None:
        self.spent += amount
        self._left -= amount
        if self._left < 0:
            raise TooMuchWork(f"Comparing takes more than {self._most:,} steps. Compare smaller values.")


def equal(left: Json, right: Json, work: Work) -> bool:
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        work.spend(1)
        if isinstance(left, dict) and isinstance(right, dict):
            if len(left) != len(right):
                return False
            work.spend(len(left))
            if left.keys() != right.keys():
                return False
            pending.extend((value, right[key]) for key, value in left.items())
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            work.spend(len(left))
            pending.extend(zip(reversed(left), reversed(right), strict=True))  # the first items are compared first
        elif not _same(left, right, work):
            return False
    return True


def ordered(left: Json, order: str, right: Json, work: Work) -> bool:
    """Return whether the order, one of ORDERS, holds. It does not between values of different types."""
    texts = isinstance(left, str) and isinstance(right, str)
    if texts:
        work.spend(min(len(left), len(right)) // 100)
    return (texts or (_is_number(left) and _is_number(right))) and ORDERS[order](left, right)


def contains(container: Json, item: Json, work: Work) -> bool:
    """Return whether a list has an equal item, an object has a key, or a text has a part. Nothing else has items."""
    if isinstance(container, list):
        return any(equal(each, item, work) for each in container)
    if not isinstance(item, str):
        return False
    if isinstance(container, str):
        work.spend((len(container) + len(item)) // 100)
        return item in container
    return isinstance(container, dict) and item in container


def _same(left: Json, right: Json, work: Work) -> bool:
    """Compare two values that are not both lists or both objects."""
    if isinstance(left, str) and isinstance(right, str) and len(left) == len(right):
        work.spend(len(left) // 100)
        return left == right
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and not isinstance(left, (list, dict)) and bool(left == right)


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
