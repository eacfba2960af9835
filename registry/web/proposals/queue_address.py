"""Filters of the review queue: read from the address, and remembered in the session for the pages of its proposals."""

from collections.abc import Container
from dataclasses import asdict
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from registry.core.bundle import normalise
from registry.services.proposals import review_queue
from registry.services.proposals.review_queue import GROUPS, WAITING, Query
from registry.web.access import ProjectRequest


def read(values: QueryDict) -> Query:
    """Return the filters in the address. Unknown values are ignored."""

    def one_of(name: str, allowed: Container[str], otherwise: str = "") -> str:
        value = values.get(name, "")
        return value if value in allowed else otherwise

    return Query(
        state=one_of("state", GROUPS, WAITING),
        skill=normalise(values.get("skill", "")[:128]),
        proposer=values.get("proposer", "")[:200].strip(),
        risk=one_of("risk", review_queue.RISKS),
        sort=one_of("sort", review_queue.SORTS),
    )


def parameters(query: Query, *, start: str = "", end: str = "", **changes: str) -> str:
    """Return the query string for the filters that are not at their default."""
    values = {**asdict(query), **changes}
    encoded = urlencode(
        {name: value for name, value in values.items() if value and (name, value) != ("state", WAITING)}
    )
    return f"{start}{encoded}{end}" if encoded else ""


# -- The last filters of a user -----------------------------------------------------------------------------------


def remember(request: ProjectRequest, query: Query) -> None:
    """Store the filters in the session, if they changed."""
    encoded = parameters(query)
    if encoded != request.session.get(_key(request), ""):
        request.session[_key(request)] = encoded


def remembered(request: ProjectRequest) -> Query:
    return read(QueryDict(request.session.get(_key(request), "")))


def back(request: ProjectRequest) -> str:
    """Return the address of the queue with the last filters."""
    return reverse("proposals", args=[request.project.slug]) + parameters(remembered(request), start="?")


def _key(request: ProjectRequest) -> str:
    return f"queue-{request.project.pk}"
