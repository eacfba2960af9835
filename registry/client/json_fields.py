"""Fields of the JSON of the site, with type checks."""

from typing import Any, TypeVar

from registry.client.errors import Untrustworthy

_T = TypeVar("_T")


def get(data: Any, key: str, kind: type[_T]) -> _T:
    value = data.get(key) if isinstance(data, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Untrustworthy(f"The response of the site has no valid “{key}”. Is this the address of a Skillsite?")
    return value


def number(data: Any, key: str) -> float:
    value = get(data, key, object)
    return float(get(data, key, int if isinstance(value, int) else float))


def strings(data: Any, key: str) -> tuple[str, ...]:
    values = get(data, key, list)
    if not all(isinstance(value, str) for value in values):
        raise Untrustworthy(f"The response of the site has no valid “{key}”. Is this the address of a Skillsite?")
    return tuple(values)
