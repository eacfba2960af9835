"""The page of one path of a run: its values in full, its gates, and the paths below it."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from registry.core.errors import NotFound
from registry.core.workflows import paths
from registry.core.workflows.values import Json, canonical
from registry.models import RunStep
from registry.services.workflows import run_details, run_overview, runs
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render import workflow_graph
from registry.web.render.json_fields import Room, fields_of
from registry.web.runs.run import as_file
from registry.web.runs.run_page import note_of, step_address, took_of

_PAGE = 100  # paths below this one
_SHOWN = 64 * 1024  # characters of a value
_SIDES = {"input": "Input", "output": "Output"}


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, run: int, path: str) -> HttpResponse:
    """Show a path. With `?download=input` or `output`, send the value as a file."""
    found = runs.find(request.project, run, by=request.actor)
    row = run_overview.find_step(found, path)
    values = run_details.step_values(request.project, run, row.path, by=request.actor)
    side = request.GET.get("download", "")
    if side:
        if side not in _SIDES:
            raise NotFound("A step has an input and an output.")
        return as_file(values[side], f"run-{run}-{row.step}-{side}")
    room = Room()
    [shown] = run_details.shown_steps([row])
    page = Paginator(run_overview.below(found, row), _PAGE).get_page(request.GET.get("page"))
    context = {
        "run": found,
        "row": row,
        "shown": shown,
        "state": workflow_graph.state_of(row.state),
        "took": took_of(shown),
        "values": [_value(name, label, values[name], room) for name, label in _SIDES.items()],
        "page": page,
        "below": _below(request, run, list(page)),
        "trail": _trail(request, run, row.path),
    }
    return render(request, "runs/step.html", context)


def _value(name: str, label: str, value: Json, room: Room) -> dict[str, Any]:
    is_empty = value in (None, {})
    chars = 0 if is_empty else len(canonical(value))
    fields = [] if is_empty else fields_of(value, most_chars=_SHOWN, room=room)
    return {"name": name, "label": label, "fields": fields, "chars": chars}


def _below(request: ProjectRequest, run: int, rows: list[RunStep]) -> list[dict[str, Any]]:
    return [
        {
            "path": each.row.path,
            "state": workflow_graph.state_of(each.row.state),
            "note": note_of(each),
            "took": took_of(each),
            "href": step_address(request.project.slug, run, each.row.path),
        }
        for each in run_details.shown_steps(rows)
    ]


def _trail(request: ProjectRequest, run: int, path: str) -> list[tuple[str, str]]:
    """Return the way to a path: the run, and every path around it."""
    slug = request.project.slug
    around = []
    above = _above(path)
    while above:
        around.append((above, step_address(slug, run, above)))
        above = _above(above)
    start = [("Runs", reverse("runs", args=[slug])), (str(run), reverse("run", args=[slug, run]))]
    return [*start, *reversed(around), (path, "")]


def _above(path: str) -> str:
    """Return the path around this one, or an empty text for a step of the run's own workflow."""
    return paths.group_of(path) or paths.owner_of(paths.scope_of(path))
