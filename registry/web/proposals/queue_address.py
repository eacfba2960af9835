"""The address of the queue: its filters as somebody sees them there, and as they left them for one proposal."""

from collections.abc import Container
from dataclasses import asdict
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from registry.core.bundle import normalise
from registry.services.proposals import review_queue
from registry.services.proposals.review_queue import GROUPS, WAITING, Query
from registry.web.access import ProjectRequest


def read(given: QueryDict) -> Query:
    """Filters live in the address; a value nobody offered counts as none."""

    def one_of(name: str, allowed: Container[str], otherwise: str = "") -> str:
        value = given.get(name, "")
        return value if value in allowed else otherwise

    return Query(
        state=one_of("state", GROUPS, WAITING),
        skill=normalise(given.get("skill", "")[:128]),
        proposer=given.get("proposer", "")[:200].strip(),
        risk=one_of("risk", review_queue.RISKS),
        sort=one_of("sort", review_queue.SORTS),
    )


def parameters(query: Query, *, start: str = "", end: str = "", **changes: str) -> str:
    """What the query adds to an address, without what is at its default."""
    values = {**asdict(query), **changes}
    said = urlencode({name: value for name, value in values.items() if value and (name, value) != ("state", WAITING)})
    return f"{start}{said}{end}" if said else ""


# -- The queue that somebody works through ------------------------------------------------------------------------


def remember(request: ProjectRequest, query: Query) -> None:
    """For the pages of its proposals. The session is written only where the filters are others than before."""
    said = parameters(query)
    if said != request.session.get(_key(request), ""):
        request.session[_key(request)] = said


def remembered(request: ProjectRequest) -> Query:
    return read(QueryDict(request.session.get(_key(request), "")))


def back(request: ProjectRequest) -> str:
    """The way back to the queue as it was left."""
    return reverse("proposals", args=[request.project.slug]) + parameters(remembered(request), start="?")


def _key(request: ProjectRequest) -> str:
    return f"queue-{request.project.pk}"
