"""The tab "Workflow" of a skill: the graph of its steps, its inputs and outputs, and what the steps call."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from registry.core.findings import in_reading_order
from registry.core.text.shorten import shorten
from registry.core.workflows import workflow_lint, workflow_yaml
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.plan import FILE, SKILL_PREFIX, Plan
from registry.core.workflows.values import Field, canonical
from registry.services.capabilities import capability_registry
from registry.services.workflows import run_list as run_queries
from registry.services.workflows.run_list import Filter
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render.workflow_graph import draw
from registry.web.runs import run_list, start
from registry.web.skills.skill_page import SkillPage

_MOST_NAMED = 12  # steps that call the same capability
_DEFAULT_CHARS = 120
_RUNS = 5  # the latest


@dataclass(frozen=True, slots=True)
class FieldRow:
    """An input or an output. `default` is JSON, and empty if there is none."""

    field: Field
    default: str


@dataclass(frozen=True, slots=True)
class Call:
    """A capability, or the skill `skill`, with the first of the steps that call it.

    `href` is empty if the project does not have it.
    """

    name: str
    skill: str
    href: str
    steps: tuple[str, ...]
    more: int


@in_project
@require_safe
def workflow(request: ProjectRequest, name: str, version: str | None = None) -> HttpResponse:
    """Show the workflow of a skill, or what is wrong in its file."""
    page = SkillPage(request, name, version)
    content = page.loaded_or_404.read(page.loaded_or_404.entry(FILE))
    parsed = workflow_yaml.parse(content, limits=settings.LIMITS)
    known = capability_registry.of(page.project.pk)
    about = workflow_lint.lint(parsed, capabilities=known.by_id, skills=page.known_names)
    findings = in_reading_order((*parsed.findings, *about))
    context = page.context(
        "workflow", plan=parsed.plan, findings=findings, file=FILE, source=page.address("file-page", FILE)
    )
    if page.version is None:
        context |= _runs(page)
    if parsed.plan:
        context |= {
            "graph": draw(parsed.plan),
            "fields": [
                ("Inputs", "input", _rows(parsed.plan.inputs.values())),
                ("Outputs", "output", _rows(parsed.plan.outputs.values())),
            ],
            "calls": _calls(page, parsed.plan, known),
        }
    return render(request, "skills/skill/workflow.html", context)


def _runs(page: SkillPage) -> dict[str, Any]:
    """Return the last runs of the skill, and why this person cannot start one."""
    found = run_queries.list_runs(page.project, Filter(skill=page.name), by=page.request.actor)[:_RUNS]
    is_enabled = page.effective is not None and page.effective.enabled
    return {
        "run_rows": run_list.rows(page.request, list(found)),
        "obstacle": start.obstacle(page.request, page.loaded, is_enabled=is_enabled),
        "shows_runs": True,
    }


def _rows(fields: Iterable[Field]) -> list[FieldRow]:
    return [
        FieldRow(field, shorten(canonical(field.default), _DEFAULT_CHARS) if field.has_default else "")
        for field in fields
    ]


def _calls(page: SkillPage, plan: Plan, known: CapabilitySet) -> list[Call]:
    """Return what the steps may call, in the order of the file."""
    callers: dict[str, list[str]] = {}
    for step in plan.steps:
        for name in step.used:
            callers.setdefault(name, []).append(step.id)
    return [_call(page, name, steps, known) for name, steps in callers.items()]


def _call(page: SkillPage, name: str, steps: list[str], known: CapabilitySet) -> Call:
    skill = name.removeprefix(SKILL_PREFIX) if name.startswith(SKILL_PREFIX) else ""
    is_known = skill in page.known_names if skill else known.has(name)
    route = "skill" if skill else "capability"
    href = reverse(route, args=[page.project.slug, skill or name]) if is_known else ""
    return Call(name, skill, href, tuple(steps[:_MOST_NAMED]), max(0, len(steps) - _MOST_NAMED))
