"""The audit log of a project: who did what to what and when, found, handed out, and checked on demand."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.models import Chain, Event
from registry.services import audit
from registry.services.audit import Filter
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.project.audit_words import GROUPS, in_words

_PAGE = 50
_WALKED = 20_000
_ABOUT_SKILLS = ("skill.", "version.", "proposal.", "bundle.", "upstream.", "source.")
_FIELDS = ("verb", "actor", "target", "since", "until")
_SHOWN_DETAILS = 12


@dataclass(frozen=True, slots=True)
class Row:
    event: Event
    words: str
    skill: bool
    details: tuple[tuple[str, str], ...]

    @property
    def moved(self) -> bool:
        """What agents get changed with it."""
        return self.event.before != self.event.after


@in_project
@needs(roles.REVIEW)
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    asked = {name: request.GET.get(name, "")[:200].strip() for name in _FIELDS}
    wanted, problem = _filter(asked)
    found = audit.events(request.project, wanted, by=request.actor)
    page = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    chain = Chain.objects.filter(project=request.project).first()
    query = urlencode({name: value for name, value in asked.items() if value})
    context = {
        "asked": asked, "problem": problem, "page": page, "rows": [_row(event) for event in page], "groups": GROUPS,
        "chain": chain, "checked": _checked(request, chain), "query": query, "narrowed": bool(query),
        "pager_query": f"{query}&" if query else "",
    }  # fmt: skip
    return render(request, "audit/log.html", context, status=422 if problem else 200)


@in_project
@needs(roles.REVIEW)
@require_safe
def export(request: ProjectRequest) -> StreamingHttpResponse:
    """All that the filters leave, oldest first, one JSON document a line, sent as it is read."""
    wanted, _ = _filter({name: request.GET.get(name, "")[:200].strip() for name in _FIELDS})
    found = audit.events(request.project, wanted, by=request.actor)
    lines = audit.json_lines(found.reverse().iterator(chunk_size=1_000))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    name = content_disposition_header(as_attachment=True, filename=f"{request.project.slug}-audit.jsonl")
    response["Content-Disposition"] = name or "attachment"
    response["Cache-Control"] = "private, no-store"
    return response


def _filter(asked: dict[str, str]) -> tuple[Filter, str]:
    """Days are whole ones, both included. A day that cannot be read is said, and finds nothing out."""
    since, until = _day(asked["since"]), _day(asked["until"])
    bad = next((asked[name] for name, day in (("since", since), ("until", until)) if asked[name] and day is None), "")
    wanted = Filter(
        verb=asked["verb"],
        actor=asked["actor"],
        target=asked["target"],
        since=_moment(since) if since else None,
        until=_moment(until) + timedelta(days=1) if until and until < date.max else None,
    )
    return wanted, f"“{bad}” is not a day. Write it as 2026-01-31." if bad else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _row(event: Event) -> Row:
    pairs = [(key, str(value)) for key, value in event.data.items() if value not in ("", None, [])]
    about_skill = event.verb.startswith(_ABOUT_SKILLS) and event.verb not in ("source.added", "source.removed")
    return Row(event, in_words(event.verb), about_skill and bool(event.target), tuple(pairs[:_SHOWN_DETAILS]))


def _checked(request: ProjectRequest, chain: Chain | None) -> dict[str, Any] | None:
    """The end of the chain walked anew, where that was asked for."""
    if "check" not in request.GET or chain is None:
        return None
    good, broken = audit.verify(request.project, newest=_WALKED)
    return {"good": good, "broken": broken, "all": chain.length <= _WALKED, "walked": min(chain.length, _WALKED)}
