"""The steps of a run's own workflow with the counts of what is below them, and the steps below one path."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import CharField, Count, F, Q, QuerySet, Value
from django.db.models.functions import Concat, Length, StrIndex, Substr

from registry.core.errors import NotFound
from registry.core.workflows import paths
from registry.core.workflows.records import GROUPS, Shape
from registry.models import Run, RunStep
from registry.services.workflows import run_details

_GROUPS = tuple(shape.value for shape in GROUPS)
_MOST_ATTEMPTS = 20  # of a nested skill, whose steps are shown


@dataclass(frozen=True, slots=True)
class Below:
    """The number of paths below a step by state: its own calls, and the steps of its nested skills."""

    calls: Mapping[str, int]
    steps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Overview:
    """The rows of the workflow's own steps without their values, by step id."""

    rows: Mapping[str, RunStep]
    below: Mapping[str, Below]


def overview(run: Run) -> Overview:
    """Return the steps of the run's own workflow. A foreach of a thousand items is one row and its counts."""
    rows = {row.step: row for row in run_details.light(run).filter(path=F("step"))}
    has_more = any(row.shape in (*_GROUPS, Shape.NESTED.value) for row in rows.values())
    return Overview(rows, _below(run) if has_more else {})


def _below(run: Run) -> dict[str, Below]:
    slash = StrIndex("path", Value("/"))
    rows = run.steps.order_by().annotate(slash=slash)
    calls: dict[str, Counter[str]] = {}
    for step, state, number in _counted(rows.filter(slash=0).exclude(path=F("step")), "step"):
        calls.setdefault(step, Counter())[state] += number
    steps: dict[str, Counter[str]] = {}
    nested = rows.filter(slash__gt=0).annotate(head=Substr("path", 1, slash - 1))
    for head, state, number in _counted(nested, "head"):
        steps.setdefault(paths.top_of(head), Counter())[state] += number
    return {step: Below(calls.get(step, {}), steps.get(step, {})) for step in calls.keys() | steps.keys()}


def _counted(rows: QuerySet[RunStep], by: str) -> Sequence[tuple[str, str, int]]:
    return list(rows.values_list(by, "state").annotate(number=Count("pk")))


def find_step(run: Run, path: str) -> RunStep:
    """Return a step without its values."""
    row = run_details.light(run).filter(path=path[:500]).first()
    if row is None:
        raise NotFound("The run has no such step.")
    return row


def below(run: Run, row: RunStep) -> QuerySet[RunStep]:
    """Return the paths directly below one: the calls of a group, or the steps of a nested skill."""
    rows = run_details.light(run)
    if row.shape in _GROUPS:
        length = len(row.path)
        start, rest = Substr("path", 1, length), Substr("path", length + 1)
        found = rows.annotate(start=start, rest=rest, chars=Length("path"))
        return found.filter(start=row.path, step=row.step, chars__gt=length).exclude(rest__contains="/")
    if row.shape == Shape.NESTED.value:
        attempts = range(1, min(row.attempts, _MOST_ATTEMPTS) + 1)
        starts = [Value(paths.prefix(row.path, attempt), CharField()) for attempt in attempts]
        matching = Q(*(Q(path=Concat(start, F("step"))) for start in starts), _connector=Q.OR)
        return rows.filter(matching) if starts else rows.none()
    return rows.none()
