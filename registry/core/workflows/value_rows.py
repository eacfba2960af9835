"""JSON values as rows of a table: one row for each text, number or empty container, with its path."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from registry.core.workflows.values import Json, canonical

MOST_CHANGES = 50
MOST_COMPARED = 20_000  # rows
_KEY_CHARS, _PATH_CHARS = 80, 300
_PLAIN = re.compile(r"[A-Za-z_][\w-]*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class ValueRow:
    """`value` is a scalar, an empty list or an empty object."""

    path: str
    value: Json


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A row that differs. `before` or `after` is None if the other value has no such row."""

    path: str
    before: ValueRow | None
    after: ValueRow | None


def value_rows(value: Json, path: str = "") -> Iterator[ValueRow]:
    """Yield the rows of a value in its order. A value without containers is one row with the given path.

    Paths are made one after the other, so a caller that stops early does no more work.
    """
    stack = [iter([(path, value)])]
    while stack:
        try:
            at, each = next(stack[-1])
        except StopIteration:
            stack.pop()
            continue
        if isinstance(each, (Mapping, list)) and each:
            stack.append(_children(at, each))
        else:
            yield ValueRow(at, each)


def _children(at: str, container: Json) -> Iterator[tuple[str, Json]]:
    if len(at) > _PATH_CHARS:
        at = f"…{_short_digest(at)}"
    if isinstance(container, Mapping):
        return ((_key(at, str(key)), item) for key, item in container.items())
    return ((f"{at}[{number}]", item) for number, item in enumerate(container))


def _key(at: str, key: str) -> str:
    """Return the path of a key. A key that could be read as something else is in quotes."""
    if len(key) > _KEY_CHARS:
        return f"{at}[{canonical(key[:_KEY_CHARS])}…{_short_digest(key)}]"
    if _PLAIN.match(key):
        return f"{at}.{key}" if at else key
    return f"{at}[{canonical(key)}]"


def _short_digest(text: str) -> str:
    """Tell texts apart that start alike."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]


def value_changes(before: Json, after: Json) -> tuple[list[ValueChange], int]:
    """Return the first rows that differ, and how many do. Rows after MOST_COMPARED are not compared."""
    old, new = ({row.path: row for row in islice(value_rows(value), MOST_COMPARED)} for value in (before, after))
    found, count = [], 0
    for path in dict.fromkeys((*old, *new)):
        left, right = old.get(path), new.get(path)
        if left is not None and right is not None and _same(left.value, right.value):
            continue
        count += 1
        if count <= MOST_CHANGES:
            found.append(ValueChange(path, left, right))
    return found, count


def _same(left: Json, right: Json) -> bool:
    """Return whether two values are the same JSON: 1 is neither 1.0 nor true."""
    return type(left) is type(right) and bool(left == right)
