"""Dotted paths in JSON values, such as `data.items.0.id`."""

from collections.abc import Mapping
from typing import Any, Final

from registry.core.workflows.values import Json

MISSING: Final[Any] = object()


def at(value: Json, path: str) -> Json:
    """Return the value at a path, or MISSING."""
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and int(part[:9]) < len(value):
            value = value[int(part[:9])]
        else:
            return MISSING
    return value
