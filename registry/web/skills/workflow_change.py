"""A change of a workflow on a page: the graph before and after, the steps that change, and the new calls."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.utils.safestring import SafeString

from registry.core.bundle import Bundle
from registry.core.proposals import workflow_change
from registry.core.proposals.workflow_change import ADDED, CHANGED, REMOVED, Call, WorkflowChange
from registry.core.workflows.plan import Plan
from registry.models import Project
from registry.services.capabilities import capability_registry
from registry.web.humanize import counted
from registry.web.render import workflow_graph
from registry.web.render.workflow_graph import State

_MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step that changes, in words before and after. Both are equal if the words do not show the difference."""

    id: str
    state: State
    uses: str
    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    with_side_effects: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A change of a workflow for its template."""

    change: WorkflowChange
    before: SafeString | str
    after: SafeString | str
    rows: tuple[StepRow, ...]
    more: int
    summary: str

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.change.calls

    @property
    def new_calls(self) -> list[str]:
        """The number of calls that need a look in words, empty if there are none."""
        count = sum(not call.is_harmless for call in self.calls)
        return [counted(count, "new call")] if count else []


def shown(project: Project, before: Bundle | None, after: Bundle | None) -> Shown | None:
    """Return the change of the workflow between two bundles, None if there is none."""
    known = capability_registry.for_workflows(project.pk, before, after)
    registered = known.by_id if known else None
    change = workflow_change.compare(before, after, registered, limits=settings.LIMITS)
    if change is None:
        return None
    effects = {name for name, each in (registered or {}).items() if each.properties.side_effects}
    rows = list(_rows(change, effects))
    return Shown(
        change,
        _draw(change.before, change, "workflow-before") if change.before and not _is_new(change) else "",
        _draw(change.after, change, "workflow-after") if change.after else "",
        tuple(rows[:_MOST_STEPS]),
        max(0, len(rows) - _MOST_STEPS),
        _summary(change),
    )


def _is_new(change: WorkflowChange) -> bool:
    return change.before is None


def _draw(plan: Plan, change: WorkflowChange, name: str) -> SafeString:
    return workflow_graph.draw(plan, states=change.states, name=name, lists_steps=False)


def _summary(change: WorkflowChange) -> str:
    counts = [(len(change.of(state)), state) for state in (ADDED, CHANGED, REMOVED)]
    return ", ".join(f"{counted(count, 'step')} {state}" for count, state in counts if count) or "No step changes"


def _rows(change: WorkflowChange, effects: set[str]) -> Iterator[StepRow]:
    before = {step.id: step for step in change.before.steps} if change.before else {}
    after = {step.id: step for step in change.after.steps} if change.after else {}
    for name, state in change.states.items():
        if state not in (ADDED, CHANGED, REMOVED):
            continue
        old, new = before.get(name), after.get(name)
        step = new or old
        used = step.used if step else ()
        yield StepRow(
            name,
            workflow_graph.state_of(state),
            ", ".join(used[:3]) + (" and others" if len(used) > 3 else ""),
            workflow_graph.step_words(old) if old else (),
            workflow_graph.step_words(new) if new else (),
            any(each in effects for each in used),
        )
