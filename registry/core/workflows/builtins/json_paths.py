"""Paths into JSON values, such as `customer.orders.0.total`."""

from collections.abc import Sequence

from registry.core.workflows.builtins.definition import refuse
from registry.core.workflows.values import Json, type_of

MOST_CHARS = 500
MOST_PATHS = 100
_SHOWN_CHARS = 60


class Missing(Exception):
    """There is no value at the path."""


def segments(path: Json) -> tuple[str, ...]:
    """Return the names and positions in a path, or refuse it."""
    if not isinstance(path, str):
        raise refuse(f"A path must be a text such as “customer.name”, but one is of type {type_of(path)}.")
    parts = tuple(path.split("."))
    if not all(parts) or len(path) > MOST_CHARS:
        raise refuse(f"“{shown(path)}” is not a path. Write names with dots between them, such as “customer.name”.")
    return parts


def read(value: Json, parts: Sequence[str]) -> Json:
    """Return the value at a path. Raise Missing if there is none."""
    for part in parts:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and _position(part) < len(value):
            value = value[int(part)]
        else:
            raise Missing
    return value


def read_or_none(value: Json, parts: Sequence[str]) -> Json:
    try:
        return read(value, parts)
    except Missing:
        return None


def several(paths: Json) -> dict[str, tuple[str, ...]]:
    """Return the segments of several paths. The paths are a list, or the values of an object of names."""
    named = paths if isinstance(paths, dict) else {path: path for path in paths if isinstance(path, str)}
    if not isinstance(paths, dict) and not all(isinstance(path, str) for path in paths):
        raise refuse("Every entry of the list of paths must be a text such as “customer.name”.")
    if len(named) > MOST_PATHS:
        raise refuse(f"These are {len(named):,} paths. A call may have {MOST_PATHS} at most.")
    return {name: segments(path) for name, path in named.items()}


def shown(text: str) -> str:
    """Return a text of the caller for an error message."""
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _position(part: str) -> float:
    return int(part) if part.isascii() and part.isdigit() and len(part) <= 9 else float("inf")
