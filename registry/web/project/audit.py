"""The audit log of a project: search it, export it, and verify its hash chain."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import capfirst
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.models import Chain, Event, Membership, Project
from registry.services import audit
from registry.services.audit import Filter
from registry.services.audit_log import verification
from registry.web import labels
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.project.audit_words import FILTER_GROUPS, in_words

_PAGE = 50
_VERIFIED = 20_000
_ABOUT_SKILLS = ("skill.", "version.", "proposal.", "bundle.", "upstream.", "source.")
_ABOUT_RUNS = ("run.", "question.")
_FIELDS = ("verb", "actor", "target", "since", "until")
_SHOWN_DETAILS = 12


@dataclass(frozen=True, slots=True)
class Row:
    """One event as the page shows it."""

    event: Event
    words: str
    is_about_skill: bool
    details: tuple[tuple[str, str], ...]

    @property
    def actor(self) -> str:
        """Return the full name of a person, the name of an agent, or the label of another actor."""
        if self.event.user:
            return self.event.user.display_name
        name = self.event.actor_name
        return name if self.event.actor_kind in ("person", "agent") else capfirst(name)

    @property
    def run(self) -> int | None:
        """Return the id of the run that an event of workflows is about."""
        return self.event.data.get("run") if self.event.verb.startswith(_ABOUT_RUNS) else None

    @property
    def changed_digest(self) -> bool:
        """Return whether agents get other bytes since this event."""
        return self.event.before != self.event.after


@in_project
@needs(roles.REVIEW, to="open the audit log")
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    fields = _fields(request)
    criteria, problem = _filter(fields)
    events = audit.events(request.project, criteria, by=request.actor).select_related("user")
    page = Paginator(events, _PAGE).get_page(request.GET.get("page"))
    chain = Chain.objects.filter(project=request.project).first()
    query = urlencode({name: value for name, value in fields.items() if value})
    context = {
        "fields": fields,
        "problem": problem,
        "page": page,
        "rows": [_row(event) for event in page],
        "groups": FILTER_GROUPS,
        "actors": _actors(request.project, fields["actor"]),
        "chain": chain,
        "verified": _verified(request, chain),
        "query": query,
        "filtered": bool(query),
        "pager_query": f"{query}&" if query else "",
    }
    return render(request, "project/audit.html", context, status=422 if problem else 200)


@in_project
@needs(roles.REVIEW, to="open the audit log")
@require_safe
def export(request: ProjectRequest) -> StreamingHttpResponse:
    """Stream the matching events as JSON Lines, oldest first."""
    criteria, _ = _filter(_fields(request))
    events = audit.events(request.project, criteria, by=request.actor)
    lines = audit.json_lines(events.reverse().iterator(chunk_size=1_000))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    name = content_disposition_header(as_attachment=True, filename=f"{request.project.slug}-audit.jsonl")
    response["Content-Disposition"] = name or "attachment"
    response["Cache-Control"] = "private, no-store"
    return response


def _fields(request: ProjectRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "")[:200].strip() for name in _FIELDS}


def _actors(project: Project, selected: str) -> list[tuple[str, str]]:
    """Return the members and agents as (name in the log, name for people), with the selected one if it is neither."""
    members = [(each.user.username, each.user.display_name) for each in Membership.objects.for_list(project)]
    agents = [(name, f"Agent {name}") for name in project.agents.order_by("name").values_list("name", flat=True)]
    actors = [*members, *agents]
    if selected and selected not in dict(actors):
        actors.append((selected, labels.actor(selected)))
    return actors


def _filter(fields: dict[str, str]) -> tuple[Filter, str]:
    """Return the criteria and an error message. Both days of a range are included."""
    since, until = _day(fields["since"]), _day(fields["until"])
    bad = next((fields[name] for name, day in (("since", since), ("until", until)) if fields[name] and day is None), "")
    criteria = Filter(
        verb=fields["verb"],
        actor=fields["actor"],
        target=fields["target"],
        since=_moment(since) if since else None,
        until=_moment(until) + timedelta(days=1) if until and until < date.max else None,
    )
    return criteria, f"“{bad}” is not a date. Write it like 2026-01-31." if bad else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _row(event: Event) -> Row:
    pairs = [(key, _plain(value)) for key, value in event.data.items() if value not in ("", None, [])]
    about_skill = event.verb.startswith(_ABOUT_SKILLS) and event.verb not in ("source.added", "source.removed")
    return Row(event, in_words(event.verb), about_skill and bool(event.target), tuple(pairs[:_SHOWN_DETAILS]))


def _plain(value: Any) -> str:
    """Return a value from the data of an event without the brackets and quotes of Python."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(each)}" for key, each in value.items() if each not in ("", None, []))
    if isinstance(value, list):
        parts = [_plain(each) for each in value]
        return (" " if all(part.endswith(".") for part in parts) else ", ").join(parts)
    return str(value)


def _verified(request: ProjectRequest, chain: Chain | None) -> dict[str, Any] | None:
    """Verify the newest part of the chain if the person asked for it."""
    if "check" not in request.GET:
        return None
    length = chain.length if chain is not None else 0
    good, broken = verification.verify(request.project, newest=_VERIFIED)
    return {"good": good, "broken": broken, "all": length <= _VERIFIED, "count": min(length, _VERIFIED)}
