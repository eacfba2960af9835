"""The queue of proposals: found by filters in the address, worked through, and turned down several at once."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.proposals.lifecycle import UNDECIDED, State
from registry.services.proposals import review_queue
from registry.services.proposals.review_queue import DECIDED, GROUPS, WAITING, Query
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.navigation import may
from registry.web.proposals import queue_address
from registry.web.skills.skill_page import SkillPage

_TABS = (
    (WAITING, "Waiting"),
    (State.CHANGES_REQUESTED.value, "Changes asked for"),
    (State.STALE.value, "Overtaken"),
    (DECIDED, "Decided"),
)
_DECISIONS = (
    (DECIDED, "All"),
    (State.APPROVED.value, "Approved"),
    (State.REJECTED.value, "Rejected"),
    (State.WITHDRAWN.value, "Withdrawn"),
)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """The queue; a POST rejects the ticked ones."""
    return _reject_ticked(request) if request.method == "POST" else _list(request)


def _list(request: ProjectRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    query = queue_address.read(request.GET)
    page = Paginator(review_queue.find(request.project, query, by=request.actor), review_queue.PAGE).get_page(
        request.GET.get("page")
    )
    queue_address.remember(request, query)
    counts = review_queue.counts(request.project, by=request.actor)
    reviews = may(request, roles.REVIEW)
    context = {
        "query": query, "page": page, "rows": review_queue.rows(list(page), by=request.actor), "counts": counts,
        "tabs": _links(query, _TABS, counts), "decisions": _links(query, _DECISIONS, counts),
        "mixed": len(query.states) > 1, "decided": query.state in (DECIDED, *(value for value, _ in _DECISIONS)),
        "choices": review_queue.choices(request.project, query.states, by=request.actor),
        "risks": review_queue.RISKS, "sorts": review_queue.SORTS,
        "pager_query": queue_address.parameters(query, end="&"),
        "address": f"{request.path}{queue_address.parameters(query, start='?')}", "reviews": reviews,
        "ticks": reviews and set(query.states) <= set(UNDECIDED), "any": sum(counts.values()), **more,
    }  # fmt: skip
    return render(request, "proposals/queue.html", context, status=status)


def _links(query: Query, offered: tuple[tuple[str, str], ...], counts: dict[str, int]) -> list[dict[str, Any]]:
    """The current one is the narrowest that is offered and holds what is asked for."""
    holds = [value for value, _ in offered if set(query.states) <= set(GROUPS[value])]
    current = query.state if query.state in holds else holds[0] if holds else ""
    return [
        {
            "label": label,
            "url": queue_address.parameters(query, start="?", state=value) or "?",
            "count": sum(counts.get(state, 0) for state in GROUPS[value]),
            "current": value == current,
        }
        for value, label in offered
    ]


def _reject_ticked(request: ProjectRequest) -> HttpResponse:
    ticked = [int(text) for text in request.POST.getlist("proposal") if text.isascii() and text.isdecimal()]
    reason = request.POST.get("comment", "")
    try:
        outcome = review_queue.reject(request.project, ticked, comment=reason, by=request.actor)
    except InvalidRequest as error:
        return _list(request, status=422, refused=error.message, ticked=ticked, reason=reason)
    said = f"{counted(len(outcome.rejected), 'proposal')} rejected. Nothing changes for agents."
    if outcome.refused:
        return _list(request, outcome=outcome, said=said if outcome.rejected else "", reason=reason)
    messages.success(request, said)
    return redirect(request.get_full_path())


@in_project
@require_safe
def of_skill(request: ProjectRequest, name: str) -> HttpResponse:
    """The proposals for one skill, as a part of its page."""
    page = SkillPage(request, name)
    found = review_queue.of_skill(request.project, page.name, by=request.actor)
    shown = Paginator(found, review_queue.PAGE).get_page(request.GET.get("page"))
    context = page.context("proposals", shown=shown, rows=review_queue.rows(list(shown), by=request.actor))
    return render(request, "proposals/of_skill.html", context)
