"""Every route of the URL conf, with addresses for tests."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver

_PART = re.compile(r"<(?:\w+:)?(\w+)>")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def every_route() -> Iterator[str]:
    return _walk(get_resolver().url_patterns, "")


def _walk(patterns: list[Any], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def methods(route: str) -> tuple[str, ...]:
    """Return the methods to try. Pages and protocols use two, the API all."""
    return METHODS if route.startswith("api/") else METHODS[:2]


def address(route: str, values: dict[str, Any]) -> str:
    return "/" + _PART.sub(lambda match: quote(str(values[match[1]])), route)
