"""The runs of a project, with filters."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.models import Run
from registry.services.workflows import run_list
from registry.services.workflows.run_list import FINISHED, STATES, UNFINISHED, Filter, Waiting
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import duration
from registry.web.navigation import may
from registry.web.runs import run_words
from registry.web.runs.run_words import Badge

_PAGE = 50
_GROUPS = {UNFINISHED: "Unfinished", FINISHED: "Finished"}


@dataclass(frozen=True, slots=True)
class Row:
    """A run of a list. `waits_for` is who has to answer, and `took` how long it took or has been running."""

    run: Run
    badge: Badge
    waits_for: str
    took: str


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    criteria = _criteria(request.GET)
    found = run_list.list_runs(request.project, criteria, by=request.actor)
    page = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    context = {
        "criteria": criteria,
        "page": page,
        "rows": rows(request, list(page)),
        "states": [(state, _GROUPS.get(state) or run_words.STATES[state].label) for state in _states()],
        "choices": run_list.choices(request.project, by=request.actor),
        "query": _query(criteria),
        "is_filtered": criteria != Filter(),
        "may_run": may(request, roles.RUN),
        "reviews": may(request, roles.REVIEW),
        "skills_url": reverse("skills", args=[request.project.slug]),
    }
    return render(request, "runs/list.html", context)


def rows(request: ProjectRequest, found: list[Run]) -> list[Row]:
    """Return runs for a list, with a fixed number of queries."""
    waiting = run_list.waiting(request.project, [run for run in found if not run.is_finished], by=request.actor)
    now = timezone.now()
    return [_row(run, waiting.get(run.pk), now) for run in found]


def _row(run: Run, waiting: Waiting | None, now: datetime) -> Row:
    seconds = ((run.finished_at or now) - run.created_at).total_seconds()
    waits_for = run_words.asked(waiting) if waiting and not run.cancelled_by else ""
    return Row(run, run_words.state_badge(run, waiting), waits_for, duration(seconds))


def _states() -> list[str]:
    return [UNFINISHED, FINISHED, *(state for state in STATES if state not in _GROUPS)]


def _criteria(sent: QueryDict) -> Filter:
    state = sent.get("state", "")
    return Filter(
        state=state if state in STATES else "",
        skill=sent.get("skill", "")[:128],
        by=sent.get("by", "")[:150],
        is_mine=sent.get("mine") == "1",
    )


def _query(criteria: Filter) -> str:
    """Return the filters for the links of the pager."""
    mine = "1" if criteria.is_mine else ""
    given = {"state": criteria.state, "skill": criteria.skill, "by": criteria.by, "mine": mine}
    text = urlencode({name: value for name, value in given.items() if value})
    return f"{text}&" if text else ""
