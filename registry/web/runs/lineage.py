"""The data of a run: everything that its steps wrote, and the steps behind one value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from registry.core.errors import TooLarge
from registry.core.workflows import paths
from registry.core.workflows.state import OUTPUTS, WRITABLE
from registry.core.workflows.trace import Contribution
from registry.core.workflows.values import Json
from registry.services.workflows import run_details, runs
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render import workflow_graph
from registry.web.render.json_fields import preview
from registry.web.runs.run_page import RunPage, step_address

_TARGET_CHARS = 200
_MOST_SLOTS, _MOST_ROWS = 200, 200
_PREVIEW = 200


@dataclass(frozen=True, slots=True)
class Slot:
    """A value that the run knows, such as `outputs.summary`."""

    target: str
    value: str
    href: str


@dataclass(frozen=True, slots=True)
class Source:
    """A path that contributed to a value."""

    path: str
    href: str
    uses: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, run: int) -> HttpResponse:
    """Show the data of a run. With `?of=outputs.summary`, show which steps contributed to it."""
    page = RunPage(request, runs.find(request.project, run, by=request.actor))
    context: dict[str, object] = {"page": page, "run": page.run, "tab": "run-lineage"}
    target = " ".join(request.GET.get("of", "")[:_TARGET_CHARS].split())
    try:
        if target:
            context |= _lineage(request, page, target)
        else:
            slots = list(_slots(page, run_details.state_of(request.project, run, by=request.actor)))
            context |= {"slots": slots[:_MOST_SLOTS], "more": max(0, len(slots) - _MOST_SLOTS)}
    except TooLarge as error:
        context["too_large"] = error.message
    return render(request, "runs/lineage.html", context)


def _lineage(request: ProjectRequest, page: RunPage, target: str) -> dict[str, object]:
    found = run_details.lineage_of(request.project, page.run.pk, target, by=request.actor)
    steps = {paths.top_of(each.path) for each in found}
    return {
        "target": target,
        "sources": [_source(page, each) for each in found[:_MOST_ROWS]],
        "more": max(0, len(found) - _MOST_ROWS),
        "steps": [step.id for step in page.plan.steps if step.id in steps],
        "graph": _graph(page, steps) if found else "",
    }


def _graph(page: RunPage, steps: set[str]) -> SafeString:
    states = {step.id: "contributed" if step.id in steps else "apart" for step in page.plan.steps}
    rows = page.overview.rows
    links = {id_: step_address(page.slug, page.run.pk, id_) for id_ in steps if id_ in rows}
    return workflow_graph.draw(page.plan, states=states, links=links, name="lineage", lists_steps=False)


def _source(page: RunPage, each: Contribution) -> Source:
    href = step_address(page.slug, page.run.pk, each.path)
    return Source(each.path, href, each.capability, each.reads, tuple(write.target for write in each.writes))


def _slots(page: RunPage, state: Mapping[str, Json]) -> Iterator[Slot]:
    """Yield the values that steps wrote, outputs first."""
    address = reverse("run-lineage", args=[page.slug, page.run.pk])
    for namespace in sorted(WRITABLE, key=lambda name: name != OUTPUTS):
        fields = state.get(namespace)
        for name, value in fields.items() if isinstance(fields, dict) else ():
            if value in (None, [], {}):
                continue
            target = f"{namespace}.{name}"
            yield Slot(target, preview(value, _PREVIEW), f"{address}?{urlencode({'of': target})}")
