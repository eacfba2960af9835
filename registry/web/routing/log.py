"""The log of questions: what agents asked and what they got. A question becomes a test question with one click."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from registry.core import roles
from registry.core.routing.golden import query_digest
from registry.models import GoldenCase, Project, RouteLog
from registry.services.routing import route_log, routing_settings
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.routing import tabs
from registry.web.routing.link_words import percent, probability

_PAGE = 50
_TO = "open the log of questions"
_SHOWN = {"nothing": False, "found": True}  # values of the filter


@dataclass(frozen=True, slots=True)
class Match:
    name: str
    percent: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A logged question. `case_id` is the test question with the same words, or None."""

    row: RouteLog
    matches: tuple[Match, ...]
    threshold: str
    case_id: int | None


@in_project
@needs(roles.WRITE, to=_TO)
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    show = request.GET.get("show", "")
    show = show if show in _SHOWN else ""
    rows = route_log.entries(request.project, by=request.actor, found=_SHOWN.get(show))
    page = Paginator(rows, _PAGE).get_page(request.GET.get("page"))
    settings = routing_settings.of(request.project.pk, request.project.revision)
    context = tabs.page(
        request,
        "routing-log",
        page=page,
        entries=_entries(request.project, list(page)),
        show=show,
        query=f"show={show}&" if show else "",
        settings=settings,
        share=percent(settings.log_share),
        kept_chars=route_log.QUERY_CHARS,
    )
    return render(request, "routing/log.html", context)


def _entries(project: Project, rows: list[RouteLog]) -> list[Entry]:
    digests = {row.pk: query_digest(row.query) for row in rows}
    known = GoldenCase.objects.filter(project=project, query_digest__in=set(digests.values()))
    cases = dict(known.values_list("query_digest", "pk"))
    return [
        Entry(
            row,
            tuple(Match(name, probability(confidence)) for name, confidence in row.matches[:3]),
            percent(row.threshold),
            cases.get(digests[row.pk]),
        )
        for row in rows
    ]


@in_project
@needs(roles.WRITE, to=_TO)
@require_POST
def delete(request: ProjectRequest) -> HttpResponse:
    deleted = route_log.delete(request.project, by=request.actor)
    messages.success(request, f"{counted(deleted, 'logged question')} deleted.")
    return redirect("routing-log", request.project.slug)
