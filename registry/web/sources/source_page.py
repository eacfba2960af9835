"""Page of one source: its skills, their state in the project, search and filters."""

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
from registry.web.navigation import may_publish
from registry.web.sources import source_words as words
from registry.web.sources.sources import frame, state_of

_PAGE, _JOBS, _SHORTEST = 50, 5, 2
FRESH = "new"
_SHOW = {"": "All", FRESH: "Not installed", INSTALLED: "Installed", NEWER: "Updates"}
_NOTHING = {
    FRESH: "All skills are installed",
    INSTALLED: "No skills are installed yet",
    NEWER: "All installed skills are up to date",
}


@dataclass(frozen=True, slots=True)
class Query:
    q: str
    show: str

    @property
    def words(self) -> list[str]:
        """Return the search words. A single letter is ignored."""
        return self.q.casefold().split() if len(self.q) >= _SHORTEST else []

    def encoded(self, **changes: str) -> str:
        parameters = {"q": self.q, "show": self.show, **changes}
        return urlencode({name: value for name, value in parameters.items() if value})


@dataclass(frozen=True, slots=True)
class Row:
    """One source entry in the list. `skill` is its name in the project."""

    status: EntryStatus
    url: str
    skill: str
    badges: tuple[tuple[str, str, str], ...]
    bundled: bool
    note: str = ""

    @property
    def name(self) -> str:
        return self.status.entry.name

    @property
    def description(self) -> str:
        return self.status.entry.description

    @property
    def version(self) -> str:
        return self.status.entry.version


@in_project
@needs(roles.WRITE, to="open sources")
@never_cache
@require_safe
def show(request: ProjectRequest, source_id: int) -> HttpResponse:
    """Show the whole page. For htmx, return the matching entries or the running job."""
    source = sources.find(request.project, source_id, by=request.actor)
    part = request.GET.get("part", "")
    if wants_fragment(request) and part == "working":
        return _working(request, source)
    query = Query(" ".join(request.GET.get("q", "")[:200].split()), _one_of(request.GET.get("show", "")))
    context = _context(request, source, query)
    partial = None if part == "page" else "sources/_entries.html"
    response = render_either(request, "sources/source.html", context, partial=partial)
    if wants_fragment(request) and partial:
        encoded = query.encoded()
        response["HX-Push-Url"] = f"{request.path}?{encoded}" if encoded else request.path
    return response


def _one_of(show: str) -> str:
    return show if show in _SHOW else ""


def _context(request: ProjectRequest, source: Source, query: Query) -> dict[str, Any]:
    entries = source_queries.all_entries(source)
    matching = [each for each in entries if matches(each, query.words)]
    shown = [each for each in matching if _is_shown(each, query.show)]
    page = Paginator(shown, _PAGE).get_page(request.GET.get("page"))
    jobs = list(sources.jobs(request.project, source.pk, by=request.actor).select_related("user", "agent")[:_JOBS])
    working = next((job for job in reversed(jobs) if not job.finished), None)
    encoded = query.encoded()
    return {
        **frame(request, source),
        "verb": "Import" if may_publish(request) else "Propose",
        "state": state_of(source, working),
        "working": _job(working) if working else None,
        "jobs": [_job(job) for job in jobs if job.finished and job.kind != LOOK],
        "query": query,
        "page": page,
        "rows": rows(request, source, list(page)),
        "versions": any(each.entry.version for each in entries),
        "pager_query": f"{encoded}&" if encoded else "",
        "filters": _filters(matching, query),
        "import_all": _import_all(request, source, matching, query),
        "any": bool(entries),
        "offered": len(entries),
        "nothing": _NOTHING.get(query.show, ""),
        "installed": source.installations.filter(skill__overrides=True).count(),
        "gone": sources.gone(source),
    }


def _import_all(
    request: ProjectRequest, source: Source, matching: list[EntryStatus], query: Query
) -> dict[str, str] | None:
    """Return the link that imports every matching skill without a conflict, or None if there are fewer than two."""
    count = sum(each.state == AVAILABLE and not each.taken for each in matching)
    if count < 2 or query.show:
        return None
    verb = "Import" if may_publish(request) else "Propose"
    parameters = {"all": "1", **({"q": query.q} if query.q else {})}
    url = reverse("source-import", args=[request.project.slug, source.pk])
    return {"url": f"{url}?{urlencode(parameters)}", "label": f"{verb} all {count:,} skills without conflicts…"}


def matches(each: EntryStatus, words: list[str]) -> bool:
    text = f"{each.entry.name} {each.entry.description}".casefold()
    return all(word in text for word in words)


def _is_shown(each: EntryStatus, show: str) -> bool:
    if show == INSTALLED:
        return each.state != AVAILABLE
    return not show or each.state == (AVAILABLE if show == FRESH else show)


def _filters(matching: list[EntryStatus], query: Query) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "count": sum(_is_shown(each, value) for each in matching),
            "url": f"?{query.encoded(show=value)}",
            "current": query.show == value,
        }
        for value, label in _SHOW.items()
    ]


def rows(request: ProjectRequest, source: Source, entries: list[EntryStatus]) -> list[Row]:
    bundled = source_queries.taken_by_built_in(source, entries)
    return [_row(request, source, each, each.entry.name in bundled) for each in entries]


def _row(request: ProjectRequest, source: Source, each: EntryStatus, bundled: bool) -> Row:
    name, installation = each.entry.name, each.installation
    skill = installation.skill.name if installation else name
    note = f"as {skill}" if installation and skill != name else ""
    url = reverse("source-entry", args=[request.project.slug, source.pk, name])
    return Row(each, url, skill, tuple(_badges(each, bundled)), bundled, note)


def _badges(each: EntryStatus, bundled: bool) -> list[tuple[str, str, str]]:
    """Return at most two badges as label, tone and icon."""
    if each.proposal:
        return [(f"In review, proposal {each.proposal}", "accent", "proposals")]
    if each.taken and not bundled:
        return [(f"Conflicts with your {each.entry.name}", "warn", "warning")]
    badges = [("Not installed", "plain", "plus")] if each.state == AVAILABLE else [("Installed", "ok", "check")]
    if each.state == NEWER:
        badges = [("Update available", "accent", "download")]
    if each.edited:
        badges.append(("Edited here", "warn", "pencil"))
    if each.taken:
        badges.append(("Replaces built-in", "line", "hides"))
    return badges


def _job(job: SourceJob) -> dict[str, Any]:
    total: int = getattr(job, "total", 0)
    return {"job": job, "title": words.job_title(job, total), "state": words.JOB_STATES[job.state]}


def _working(request: ProjectRequest, source: Source) -> HttpResponse:
    """Return the running job, or 204 if nothing changed.

    When the job has ended, a page without a list reloads itself. A page with a list only offers to reload, because
    the person may have selected skills in it.
    """
    job = sources.jobs(request.project, source.pk, by=request.actor).unfinished().order_by("pk").first()
    if job is not None and request.GET.get("was") == f"{job.pk}-{job.state}":
        return HttpResponse(status=204)
    context = {"working": _job(job) if job else None, "over": job is None, "any": "list" in request.GET}
    return render(request, "sources/_running_job.html", {**frame(request, source), **context})
