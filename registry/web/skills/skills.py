"""The skills of a project: found, filtered, and several changed at once."""

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
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import InvalidRequest
from registry.services.catalog import catalog, skill_list
from registry.services.proposals import review_queue
from registry.services.skills import bulk_edit
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render, wants_fragment
from registry.web.humanize import counted
from registry.web.navigation import may, may_publish, may_withdraw


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def skills(request: ProjectRequest) -> HttpResponse:
    """The list; a POST changes the ticked skills."""
    return _change_ticked(request) if request.method == "POST" else _list(request)


def _list(request: ProjectRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    view = catalog.view(request.project.pk, request.project.revision)
    query = _query(request)
    found = skill_list.find(request.project, view, query, user=request.user)
    page = Paginator(found.skills, skill_list.PAGE).get_page(request.GET.get("page"))
    cost = skill_list.cost(view)
    waiting = review_queue.waiting_by_skill(request.project, [outcome.name for outcome in page], by=request.actor)
    own = {o.name for o in view.skills if o.winner is None}
    context = {
        "query": query,
        "page": page,
        "pager_query": _parameters(query, end="&"),
        "address": f"{request.path}{_parameters(query, start='?')}",
        "rows": skill_list.rows(request.project, list(page), found.drafts, waiting, today=timezone.now().date()),
        "sources": _sources(query, found.of_source),
        "kinds": skill_list.KINDS,
        "tags": skill_list.tags(view),
        "states": skill_list.STATES,
        "sorts": skill_list.SORTS,
        "cost": cost,
        "shares": [("Project", cost.own), ("Bundled", cost.bundled)],
        "suggested": skill_list.SUGGESTED_TOKENS,
        "left_out": [(item, item.name in own) for item in view.left_out],
        "any": bool(view.skills),
        "own": any(o.winner and o.winner.source != BUNDLED for o in view.skills),
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
        response["HX-Push-Url"] = context["address"]
    return response


def _query(request: ProjectRequest) -> skill_list.Query:
    """Filters live in the address; a value nobody offered counts as none."""
    given = request.GET

    def one_of(name: str, allowed: Container[str], otherwise: str = "") -> str:
        value = given.get(name, "")
        return value if value in allowed else otherwise

    return skill_list.Query(
        q=" ".join(given.get("q", "")[:200].split()),
        source=one_of("source", skill_list.SOURCES),
        kind=one_of("kind", skill_list.KINDS),
        tag=given.get("tag", "")[:100].strip(),
        state=one_of("state", skill_list.STATES),
        sort=one_of("sort", skill_list.SORTS, "name"),
    )


def _parameters(query: skill_list.Query, *, start: str = "", end: str = "", **changes: str) -> str:
    """What the query adds to an address, without what is at its default."""
    values = {**asdict(query), **changes}
    said = urlencode({name: value for name, value in values.items() if value and (name, value) != ("sort", "name")})
    return f"{start}{said}{end}" if said else ""


def _sources(query: skill_list.Query, counts: dict[str, int]) -> list[dict[str, Any]]:
    """The choices of source with how many match; one that never occurs is not offered."""
    offered = [("", "All", sum(counts.values()))]
    offered += [(s, s.capitalize(), counts.get(s, 0)) for s in skill_list.SOURCES if s != "imported" or counts.get(s)]
    return [
        {
            "label": label,
            "count": count,
            "url": _parameters(query, start="?", source=value) or "?",
            "current": query.source == value,
        }
        for value, label, count in offered
    ]


def _change_ticked(request: ProjectRequest) -> HttpResponse:
    ticked, act, word = request.POST.getlist("skill"), request.POST.get("act", ""), request.POST.get("tag", "")
    try:
        outcome = _act(request, act, ticked, word)
    except InvalidRequest as error:
        return _list(request, status=422, refused=error.message, ticked=ticked, word=word)
    request.project.refresh_from_db(fields=["revision"])
    said = _DONE[act].format(skills=counted(len(outcome.changed), "skill"), tag=" ".join(word.split()))
    if outcome.refused:
        return _list(request, outcome=outcome, said=said, ticked=[name for name, _ in outcome.refused], word=word)
    if act == "off":
        said = format_html('{} <a href="{}?state=off">Show what is off</a>', said, request.path)
    messages.success(request, said)
    return redirect(request.get_full_path())


_DONE = {
    "on": "Switched on: {skills}. Agents see it with their next request.",
    "off": "Switched off: {skills}. Agents see it with their next request.",
    "tag": "{skills} tagged “{tag}”.",
    "untag": "The tag “{tag}” was taken off {skills}.",
}


def _act(request: ProjectRequest, act: str, ticked: list[str], word: str) -> bulk_edit.Outcome:
    if act in ("on", "off"):
        return bulk_edit.switch(request.project, ticked, enabled=act == "on", by=request.actor)
    if act in ("tag", "untag"):
        verb = bulk_edit.tag if act == "tag" else bulk_edit.untag
        return verb(request.project, ticked, word, by=request.actor)
    raise InvalidRequest("It is not clear what to do with the ticked skills. Nothing was changed.")
