"""The timeline of a run: when each path ran, as a waterfall and as a table, and what it read and wrote."""

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from registry.core.workflows.trace import TraceStep
from registry.models import Run
from registry.services.workflows import run_details, runs
from registry.services.workflows.run_details import ShownStep
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import duration
from registry.web.render import waterfall, workflow_graph
from registry.web.render.waterfall import Bar
from registry.web.render.workflow_graph import State
from registry.web.runs.run_page import RunPage, step_address, took_of

_PAGE = 100
_MOST_NAMED = 12  # reads and writes of one path


@dataclass(frozen=True, slots=True)
class Line:
    """A path with its bar. `after` is the time from the start of the run."""

    path: str
    href: str
    state: State
    bar: Bar
    after: str
    took: str
    attempts: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    more: int


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, run: int) -> HttpResponse:
    found = runs.find(request.project, run, by=request.actor)
    pages = Paginator(range(found.steps.count()), _PAGE)
    page = pages.get_page(request.GET.get("page"))
    details = run_details.details_of(found, first=(page.number - 1) * _PAGE, most=_PAGE, by=request.actor)
    end = found.finished_at or timezone.now()
    context = {
        "page": RunPage(request, found),
        "run": found,
        "tab": "run-timeline",
        "pages": page,
        "lines": _lines(request, found, details, end),
        "whole": duration((end - found.created_at).total_seconds()),
        "width": waterfall.WIDTH,
    }
    return render(request, "runs/timeline.html", context)


def _lines(request: ProjectRequest, run: Run, details: run_details.RunDetails, end: datetime) -> list[Line]:
    rows = [each.row for each in details.steps]
    bars = waterfall.bars([(row.started_at, row.finished_at or end) for row in rows], run.created_at, end)
    traced = {each.path: each for each in details.trace}
    return [
        _line(request, run, each, bar, traced.get(each.row.path)) for each, bar in zip(details.steps, bars, strict=True)
    ]


def _line(request: ProjectRequest, run: Run, shown: ShownStep, bar: Bar, trace: TraceStep | None) -> Line:
    row = shown.row
    reads = trace.reads if trace else tuple(row.reads)
    writes = tuple(write.target for write in trace.writes) if trace else tuple(row.writes)
    return Line(
        path=row.path,
        href=step_address(request.project.slug, run.pk, row.path),
        state=workflow_graph.state_of(row.state),
        bar=bar,
        after=duration((row.started_at - run.created_at).total_seconds()),
        took=took_of(shown) or ("skipped" if row.finished_at else "not over"),
        attempts=row.attempts,
        reads=reads[:_MOST_NAMED],
        writes=writes[:_MOST_NAMED],
        more=max(0, len(reads) - _MOST_NAMED) + max(0, len(writes) - _MOST_NAMED),
    )
