"""The list of skills: search, filters, and changes to several skills at once."""

from collections.abc import Container
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.catalog.precedence import BUNDLED, PROJECT
from registry.core.errors import InvalidRequest
from registry.core.routing.request import readable
from registry.services.catalog import catalog, public_root, skill_list
from registry.services.permissions import require
from registry.services.proposals import review_queue
from registry.services.routing import routing
from registry.services.skills import bulk_edit
from registry.web import labels
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render, wants_fragment
from registry.web.humanize import counted
from registry.web.navigation import may, may_publish, may_withdraw


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def skills(request: ProjectRequest) -> HttpResponse:
    """Show the list; a POST changes the selected skills."""
    return _change_ticked(request) if request.method == "POST" else _list(request)


def _list(request: ProjectRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    view = catalog.view(request.project.pk, request.project.revision)
    query = _query(request)
    terms = _searched(request, query.q)
    found = skill_list.find(request.project, view, query, user=request.user, found=list(terms))
    page = Paginator(found.skills, skill_list.PAGE).get_page(request.GET.get("page"))
    cost = skill_list.cost(view)
    waiting = review_queue.waiting_by_skill(request.project, [skill.name for skill in page], by=request.actor)
    built_in = {skill.name for skill in view.skills if skill.winner and skill.winner.source == BUNDLED}
    without_version = {skill.name for skill in view.skills if skill.winner is None}
    context = {
        "query": query,
        "page": page,
        "pager_query": _parameters(query, end="&"),
        "page_address": _page_address(request, query, page.number),
        "rows": skill_list.rows(
            request.project, list(page), found.drafts, waiting, today=timezone.now().date(), terms=terms
        ),
        "sources": _sources(query, found.of_source),
        "kinds": skill_list.KINDS,
        "tags": skill_list.tags(view),
        "states": skill_list.STATES,
        "sorts": skill_list.SORTS,
        "cost": cost,
        "shares": [(labels.SOURCES[PROJECT], cost.own), (labels.SOURCES[BUNDLED], cost.bundled)],
        "suggested": skill_list.SUGGESTED_TOKENS,
        "left_out": [(item, item.name in without_version) for item in view.diagnostics if not item.served],
        "served_with_problem": [item for item in view.diagnostics if item.served and item.name in built_in],
        "hidden_at_root": public_root.diagnostics(request.project.slug),
        "any": bool(view.skills),
        "own": any(skill.winner and skill.winner.source != BUNDLED for skill in view.skills),
        "unnamed_draft": found.unnamed_draft,
        "near": skill_list.did_you_mean(view, query.q) if query.q and not found.skills else "",
        "may_write": may_publish(request),
        "may_tick": may_withdraw(request),
        "may_propose": may(request, roles.PROPOSE),
        "may_source": may(request, roles.WRITE),
        **more,
    }
    response = render(request, "skills/list.html", context, partial="skills/_results.html", status=status)
    if wants_fragment(request):
        response["HX-Push-Url"] = f"{request.path}{_parameters(query, start='?')}"
    return response


def _searched(request: ProjectRequest, words: str) -> dict[str, tuple[str, ...]]:
    """Return the words that were hit in each skill that the search finds, best first."""
    if not words:
        return {}
    found = routing.search(request.project.pk, request.project.revision, words)
    return {skill.name: skill.terms for skill in found}


def _query(request: ProjectRequest) -> skill_list.Query:
    """Read the filters from the address. An unknown value counts as none."""
    parameters = request.GET

    def one_of(name: str, allowed: Container[str], otherwise: str = "") -> str:
        value = parameters.get(name, "")
        return value if value in allowed else otherwise

    return skill_list.Query(
        q=" ".join(readable(parameters.get("q", "")[:200]).split()),
        source=one_of("source", skill_list.SOURCES),
        kind=one_of("kind", skill_list.KINDS),
        tag=parameters.get("tag", "")[:100].strip(),
        state=one_of("state", skill_list.STATES),
        sort=one_of("sort", skill_list.SORTS, skill_list.BEST),
    )


def _parameters(query: skill_list.Query, *, start: str = "", end: str = "", **changes: str) -> str:
    """Return the query string of the filters, without those at their default."""
    values = {**asdict(query), **changes}
    plain = ("sort", skill_list.BEST)
    encoded = urlencode({name: value for name, value in values.items() if value and (name, value) != plain})
    return f"{start}{encoded}{end}" if encoded else ""


def _page_address(request: ProjectRequest, query: skill_list.Query, number: int) -> str:
    """Return the address of this page of results, which the form for several skills posts to."""
    parameters = _parameters(query) if number == 1 else f"{_parameters(query, end='&')}page={number}"
    return f"{request.path}?{parameters}" if parameters else request.path


def _sources(query: skill_list.Query, counts: dict[str, int]) -> list[dict[str, Any]]:
    """Return the source filters with their counts. "Imported" is left out while nothing was imported."""
    choices = [("", "All", sum(counts.values()))]
    sources = [source for source in skill_list.SOURCES if source != "imported" or counts.get(source)]
    choices += [(source, labels.SOURCES[source], counts.get(source, 0)) for source in sources]
    return [
        {
            "label": label,
            "count": count,
            "url": _parameters(query, start="?", source=value) or "?",
            "current": query.source == value,
        }
        for value, label, count in choices
    ]


def _change_ticked(request: ProjectRequest) -> HttpResponse:
    require(request.actor, roles.WRITE, request.project)
    ticked, act, word = request.POST.getlist("skill"), request.POST.get("act", ""), request.POST.get("tag", "")
    try:
        result = _act(request, act, ticked, word)
    except InvalidRequest as error:
        return _list(request, status=422, refused=error.message, ticked=ticked, word=word)
    request.project.refresh_from_db(fields=["revision"])
    summary = _DONE[act].format(skills=counted(len(result.changed), "skill"), tag=" ".join(word.split()))
    if result.refused:
        return _list(request, result=result, summary=summary, ticked=[name for name, _ in result.refused], word=word)
    if act == "off":
        summary = format_html('{} <a href="{}?state=off">Show switched-off skills</a>', summary, request.path)
    messages.success(request, summary)
    return redirect(request.get_full_path())


_DONE = {
    "on": "Switched on {skills}. Agents notice with their next request.",
    "off": "Switched off {skills}. Agents notice with their next request.",
    "tag": "Added the tag “{tag}” to {skills}.",
    "untag": "Removed the tag “{tag}” from {skills}.",
}


def _act(request: ProjectRequest, act: str, ticked: list[str], word: str) -> bulk_edit.BulkResult:
    if act in ("on", "off"):
        return bulk_edit.switch(request.project, ticked, enabled=act == "on", by=request.actor)
    if act in ("tag", "untag"):
        verb = bulk_edit.tag if act == "tag" else bulk_edit.untag
        return verb(request.project, ticked, word, by=request.actor)
    raise InvalidRequest("Choose what to do with the selected skills. Nothing was changed.")
