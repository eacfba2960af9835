"""One source: what it offers against what the project has, searched, filtered, and several ticked at once."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.models import Source, SourceJob
from registry.models.sources import LOOK
from registry.services.sources import source_queries, sources
from registry.services.sources.sources import AVAILABLE, INSTALLED, NEWER, EntryStatus
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render as render_either
from registry.web.htmx import wants_fragment
from registry.web.sources import source_words as words
from registry.web.sources.sources import frame, state_of

_PAGE, _JOBS, _SHORTEST = 50, 5, 2
FRESH = "new"
_SHOW = {"": "All", FRESH: "Not installed", INSTALLED: "Installed", NEWER: "Updates"}
_NOTHING = {
    FRESH: "Everything it offers is installed", INSTALLED: "Nothing of it is installed yet",
    NEWER: "Everything that came from here is up to date",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Query:
    q: str
    show: str

    @property
    def words(self) -> list[str]:
        """What is looked for; one letter is nothing to go by yet."""
        return self.q.casefold().split() if len(self.q) >= _SHORTEST else []

    def address(self, **changes: str) -> str:
        said = {"q": self.q, "show": self.show, **changes}
        return urlencode({name: value for name, value in said.items() if value})


@dataclass(frozen=True, slots=True)
class Row:
    """One offer as the list shows it; `skill` is what it is, or would be, in the project."""

    offered: EntryStatus
    url: str
    skill: str
    badges: tuple[tuple[str, str, str], ...]
    bundled: bool
    note: str = ""

    @property
    def name(self) -> str:
        return self.offered.entry.name

    @property
    def description(self) -> str:
        return self.offered.entry.description

    @property
    def version(self) -> str:
        return self.offered.entry.version


@in_project
@needs(roles.WRITE, to="open sources")
@never_cache
@require_safe
def show(request: ProjectRequest, source: int) -> HttpResponse:
    """The whole page, or what htmx asks for: the offers that match, or how the work goes."""
    found = sources.find(request.project, source, by=request.actor)
    part = request.GET.get("part", "")
    if wants_fragment(request) and part == "working":
        return _working(request, found)
    query = Query(" ".join(request.GET.get("q", "")[:200].split()), _one_of(request.GET.get("show", "")))
    context = _context(request, found, query)
    partial = None if part == "page" else "sources/_offers.html"
    response = render_either(request, "sources/source.html", context, partial=partial)
    if wants_fragment(request) and partial:
        said = query.address()
        response["HX-Push-Url"] = f"{request.path}?{said}" if said else request.path
    return response


def _one_of(show: str) -> str:
    return show if show in _SHOW else ""


def _context(request: ProjectRequest, source: Source, query: Query) -> dict[str, Any]:
    offered = source_queries.offered(source)
    matching = [each for each in offered if matches(each, query.words)]
    shown = [each for each in matching if _is_shown(each, query.show)]
    page = Paginator(shown, _PAGE).get_page(request.GET.get("page"))
    jobs = list(sources.jobs(request.project, source.pk, by=request.actor).select_related("user", "agent")[:_JOBS])
    working = next((job for job in reversed(jobs) if not job.finished), None)
    said = query.address()
    return {
        **frame(request, source),
        "state": state_of(source, working),
        "working": _job(working) if working else None,
        "jobs": [_job(job) for job in jobs if job.finished and job.kind != LOOK],
        "query": query,
        "page": page,
        "rows": rows(request, source, list(page)),
        "versions": any(each.entry.version for each in offered),
        "pager_query": f"{said}&" if said else "",
        "filters": _filters(matching, query),
        "fresh": sum(each.state == AVAILABLE and not each.taken for each in matching),
        "any": bool(offered),
        "offered": len(offered),
        "nothing": _NOTHING.get(query.show, ""),
        "installed": source.installations.filter(skill__overrides=True).count(),
        "gone": sources.gone(source),
    }


def matches(each: EntryStatus, looked_for: list[str]) -> bool:
    text = f"{each.entry.name} {each.entry.description}".casefold()
    return all(word in text for word in looked_for)


def _is_shown(each: EntryStatus, show: str) -> bool:
    if show == INSTALLED:
        return each.state != AVAILABLE
    return not show or each.state == (AVAILABLE if show == FRESH else show)


def _filters(matching: list[EntryStatus], query: Query) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "count": sum(_is_shown(each, value) for each in matching),
            "url": f"?{query.address(show=value)}",
            "current": query.show == value,
        }
        for value, label in _SHOW.items()
    ]


def rows(request: ProjectRequest, source: Source, offered: list[EntryStatus]) -> list[Row]:
    bundled = source_queries.only_bundled(source, offered)
    return [_row(request, source, each, each.entry.name in bundled) for each in offered]


def _row(request: ProjectRequest, source: Source, each: EntryStatus, bundled: bool) -> Row:
    name, installation = each.entry.name, each.installation
    skill = installation.skill.name if installation else name
    note = f"as {skill}" if installation and skill != name else ""
    url = reverse("source-entry", args=[request.project.slug, source.pk, name])
    return Row(each, url, skill, tuple(_badges(each, bundled)), bundled, note)


def _badges(each: EntryStatus, bundled: bool) -> list[tuple[str, str, str]]:
    """At most three: what it is here, what there is to do, what somebody did to it."""
    found = [("Not installed", "plain", "plus")] if each.state == AVAILABLE else [("Installed", "ok", "check")]
    if each.state == NEWER:
        found = [("Update available", "accent", "download")]
    if each.edited:
        found.append(("Edited here", "warn", "pencil"))
    if each.taken and bundled:
        found.append(("Would hide bundled", "line", "hides"))
    elif each.taken:
        found = [(f"Conflicts with your {each.entry.name}", "warn", "warning")]
    if each.proposal:
        found = [(f"Waits as proposal {each.proposal}", "accent", "proposals")]
    return found


def _job(job: SourceJob) -> dict[str, Any]:
    total: int = getattr(job, "total", 0)
    return {"job": job, "words": words.of_job(job, total), "state": words.JOB_STATES[job.state], "total": total}


def _working(request: ProjectRequest, source: Source) -> HttpResponse:
    """How the work goes, where that changed. At its end a page without a list asks for all of itself; one with a list,
    in which somebody may have ticked something, says that there is news."""
    job = sources.jobs(request.project, source.pk, by=request.actor).unfinished().order_by("pk").first()
    if job is not None and request.GET.get("was") == f"{job.pk}-{job.state}":
        return HttpResponse(status=204)
    context = {"working": _job(job) if job else None, "over": job is None, "any": "list" in request.GET}
    return render(request, "sources/_working.html", {**frame(request, source), **context})
