"""The request to route a question, as JSON."""

import re
from dataclasses import dataclass
from typing import Any

from registry.core.errors import InvalidRequest
from registry.core.format.skill_md import KINDS
from registry.core.routing.golden import QUERY_CHARS

MOST_MATCHES, DEFAULT_MATCHES = 1_000, 5
FIELDS = ("query", "limit", "kind", "threshold")

_UNREADABLE = re.compile("[\0\ud800-\udfff]")  # no database and no UTF-8 can hold them


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """A checked request. Without a threshold, that of the project is used."""

    query: str
    limit: int = DEFAULT_MATCHES
    kind: str = ""
    threshold: float | None = None


def parse(body: Any, fields: tuple[str, ...] = FIELDS) -> RouteRequest:
    """Return the request, or raise InvalidRequest with the field at fault. Null means that a field is not set."""
    if not isinstance(body, dict):
        raise InvalidRequest('The body must be a JSON object, such as {"query": "How do I write an invoice?"}.')
    if unknown := sorted(set(map(str, body)) - set(fields)):
        raise InvalidRequest(
            f"Unknown field: {', '.join(unknown)[:200]}. Known fields: {', '.join(fields)}.", field=unknown[0][:80]
        )
    return RouteRequest(
        _query(body.get("query")), _limit(body.get("limit")), _kind(body.get("kind")), _threshold(body.get("threshold"))
    )


def readable(text: str) -> str:
    """Replace NUL characters and lone surrogates by spaces. They separate words, but cannot be stored or encoded."""
    return _UNREADABLE.sub(" ", text)


def _query(value: Any) -> str:
    if value is None:
        raise InvalidRequest("The query is missing. Send the question as text in “query”.", field="query")
    if not isinstance(value, str):
        raise InvalidRequest("query must be text. Send the question as a string.", field="query")
    if len(value) > QUERY_CHARS:
        raise InvalidRequest(
            f"The query has {len(value):,} characters. {QUERY_CHARS:,} are allowed. Send the part that asks.",
            field="query",
        )
    return readable(value)


def _limit(value: Any) -> int:
    if value is None:
        return DEFAULT_MATCHES
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 1 <= value <= MOST_MATCHES:
        raise InvalidRequest(f"limit must be a whole number from 1 to {MOST_MATCHES:,}.", field="limit")
    return int(value)


def _kind(value: Any) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or value not in KINDS:
        raise InvalidRequest(f"kind must be one of {', '.join(KINDS)}.", field="kind")
    return KINDS[value]


def _threshold(value: Any) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # also false for NaN
        raise InvalidRequest("threshold must be a number from 0 to 1. 0 returns the whole ranking.", field="threshold")
    return abs(float(value))  # 0 also for -0.0, which is 0 with a sign
