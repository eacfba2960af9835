"""Review queue: list and filter proposals, and reject several at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.proposals.lifecycle import UNDECIDED, State
from registry.models import Agent, Proposal, User
from registry.services.proposals import review_queue, reviews
from registry.services.proposals.review_queue import DECIDED, GROUPS, WAITING, Query, Row
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.navigation import may
from registry.web.proposals import queue_address
from registry.web.skills.skill_page import SkillPage

_TABS = (
    (WAITING, "Waiting"),
    (State.CHANGES_REQUESTED.value, "Changes requested"),
    (State.STALE.value, "Outdated"),
    (DECIDED, "Closed"),
)
_DECISIONS = (
    (DECIDED, "All"),
    (State.APPROVED.value, "Approved"),
    (State.REJECTED.value, "Rejected"),
    (State.WITHDRAWN.value, "Withdrawn"),
)

_KINDS = {"create": "Create", "update": "Change", "delete": "Delete"}
_EMPTY = {
    WAITING: {"icon": "check", "title": "Nothing is waiting", "text": "Every proposal has been reviewed."},
    State.STALE.value: {
        "icon": "check",
        "title": "No outdated proposals",
        "text": "A proposal becomes outdated when its skill changes.",
    },
    State.CHANGES_REQUESTED.value: {
        "icon": "check",
        "title": "No changes requested",
        "text": "A proposal stays here until its proposer revises it.",
    },
    DECIDED: {
        "icon": "proposals",
        "title": "No closed proposals",
        "text": "Approved, rejected and withdrawn proposals stay here.",
    },
}


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """Show the queue. A POST rejects the selected proposals."""
    return _reject_selected(request) if request.method == "POST" else _list(request)


def _list(request: ProjectRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    query = queue_address.read(request.GET)
    page = Paginator(review_queue.find(request.project, query, by=request.actor), review_queue.PAGE).get_page(
        request.GET.get("page")
    )
    queue_address.remember(request, query)
    counts = review_queue.counts(request.project, by=request.actor)
    reviews = may(request, roles.REVIEW)
    context = {
        "query": query, "page": page, "rows": _rows(request, page), "counts": counts,
        "empty": _empty(request, query, counts),
        "tabs": _links(query, _TABS, counts), "decisions": _links(query, _DECISIONS, counts),
        "mixed": len(query.states) > 1, "decided": query.state in (DECIDED, *(value for value, _ in _DECISIONS)),
        "choices": review_queue.choices(request.project, query.states, by=request.actor),
        "risks": review_queue.RISKS, "sorts": review_queue.SORTS,
        "pager_query": queue_address.parameters(query, end="&"),
        "address": f"{request.path}{queue_address.parameters(query, start='?')}", "reviews": reviews,
        "ticks": reviews and set(query.states) <= set(UNDECIDED), **more,
    }  # fmt: skip
    return render(request, "proposals/queue.html", context, status=status)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of a list of proposals. `who` names the proposer, and says if the reviewer may not approve."""

    proposal: Proposal
    title: str
    comments: int
    others: int
    late: bool
    who: str

    @property
    def proposer(self) -> Agent | User | None:
        return self.proposal.agent or self.proposal.user

    @property
    def kind_label(self) -> str:
        return _KINDS[self.proposal.kind]


def _rows(request: ProjectRequest, page: Iterable[Proposal]) -> list[QueueRow]:
    rows = review_queue.rows(list(page), by=request.actor)
    return [QueueRow(row.proposal, row.title, row.comments, row.others, row.late, _who(request, row)) for row in rows]


def _who(request: ProjectRequest, row: Row) -> str:
    proposal, blocked = row.proposal, row.own and may(request, roles.REVIEW)
    if proposal.user_id == request.user.pk:
        return "You, so another reviewer decides" if blocked else "You"
    name = f"Agent {proposal.proposer}" if proposal.agent else proposal.proposer
    return f"{name}, whose token you made" if blocked else name


def _empty(request: ProjectRequest, query: Query, counts: dict[str, int]) -> dict[str, str]:
    """Return the texts of an empty list."""
    if query.state == WAITING and not sum(counts.values()):
        return {
            "icon": "proposals", "title": "No proposals yet",
            "text": "Agents and people propose changes to skills. Open a skill to propose one; agents use the API.",
            "url": reverse("skills", args=[request.project.slug]), "action": "Go to skills",
        }  # fmt: skip
    return _EMPTY.get(query.state, _EMPTY[DECIDED])


def _links(query: Query, tabs: tuple[tuple[str, str], ...], counts: dict[str, int]) -> list[dict[str, Any]]:
    """Return the tabs. The first tab that includes all states of the query is the current one."""
    matching = [value for value, _ in tabs if set(query.states) <= set(GROUPS[value])]
    current = query.state if query.state in matching else matching[0] if matching else ""
    return [
        {
            "label": label,
            "url": queue_address.parameters(query, start="?", state=value) or "?",
            "count": sum(counts.get(state, 0) for state in GROUPS[value]),
            "current": value == current,
        }
        for value, label in tabs
    ]


def _reject_selected(request: ProjectRequest) -> HttpResponse:
    reviews.require_reviewer(request.project, by=request.actor)
    ticked = [int(text) for text in request.POST.getlist("proposal") if text.isascii() and text.isdecimal()]
    reason = request.POST.get("comment", "")
    try:
        rejection = review_queue.reject(request.project, ticked, comment=reason, by=request.actor)
    except InvalidRequest as error:
        return _list(request, status=422, refused=error.message, ticked=ticked, reason=reason)
    message = f"{counted(len(rejection.rejected), 'proposal')} rejected. Nothing changes for agents."
    if rejection.refused:
        shown = message if rejection.rejected else ""
        return _list(request, rejection=rejection, rejected_message=shown, reason=reason)
    messages.success(request, message)
    return redirect(request.get_full_path())


@in_project
@require_safe
def of_skill(request: ProjectRequest, name: str) -> HttpResponse:
    """Show the proposals for one skill."""
    page = SkillPage(request, name)
    matching = review_queue.of_skill(request.project, page.name, by=request.actor)
    shown = Paginator(matching, review_queue.PAGE).get_page(request.GET.get("page"))
    context = page.context("proposals", shown=shown, rows=_rows(request, shown))
    return render(request, "proposals/of_skill.html", context)
