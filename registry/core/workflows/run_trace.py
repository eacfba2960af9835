"""The trace of a run from its records, without their values."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from registry.core.workflows import expressions, outputs, paths, references
from registry.core.workflows.capability import Hints
from registry.core.workflows.plan import Step
from registry.core.workflows.records import Shape, StepRecord
from registry.core.workflows.run_tree import ROOT, Library
from registry.core.workflows.trace import TraceStep, TraceWrite


@dataclass(frozen=True, slots=True)
class Times:
    """When a step started and ended, as texts, and how long it took."""

    started_at: str = ""
    ended_at: str = ""
    latency_ms: int | None = None


def trace_of(library: Library, records: Iterable[StepRecord], times: Mapping[str, Times]) -> tuple[TraceStep, ...]:
    """Return what the steps that ended read and wrote, in recorded order. `times` are by path."""
    began = sorted(records, key=lambda record: record.began)
    ended = sorted((record for record in began if record.ended is not None), key=lambda record: record.ended or 0)
    numbers = [record.ended or 0 for record in ended]
    scopes, members = _scopes(library, began), _reads_of_members(began)
    found = []
    for record in ended:
        step = scopes.get(paths.scope_of(record.path), {}).get(record.step)
        time = times.get(record.path, Times())
        found.append(
            TraceStep(
                path=record.path,
                capability=record.uses,
                state=record.state.value,
                reads=tuple(dict.fromkeys((*record.reads, *members.get(record.path, ()), *_items(step, record)))),
                writes=tuple(_writes(library, step, record)),
                read_after=bisect_left(numbers, record.began),
                attempts=record.attempts,
                started_at=time.started_at,
                ended_at=time.ended_at,
                latency_ms=time.latency_ms,
            )
        )
    return tuple(found)


def _scopes(library: Library, records: Iterable[StepRecord]) -> dict[str, dict[str, Step]]:
    """Return the steps of each workflow that was opened, by the prefix of its paths."""
    steps = {name: {step.id: step for step in plan.steps} for name, plan in library.plans.items()}
    scopes = {"": steps[ROOT]}
    for record in records:
        skill = library.skill_of(record.uses) if record.shape is Shape.NESTED else None
        if skill in steps:
            for attempt in range(1, record.attempts + 1):
                scopes[paths.prefix(record.path, attempt)] = steps[skill]
    return scopes


def _reads_of_members(records: Iterable[StepRecord]) -> dict[str, dict[str, None]]:
    """Return what the calls of each group read, because the group writes what they produced."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for record in records:
        if group := paths.group_of(record.path):
            found[group].update(dict.fromkeys(record.reads))
    return found


def _items(step: Step | None, record: StepRecord) -> Iterator[str]:
    """Yield what the items of a foreach are read from."""
    if step is not None and step.foreach is not None and record.shape is Shape.FOREACH:
        yield from map(references.show, expressions.parse(step.foreach.items).references)


def _writes(library: Library, step: Step | None, record: StepRecord) -> Iterator[TraceWrite]:
    if step is None or not record.writes:
        return
    for field, target, strategy in outputs.declared(step, library.hints.get(record.uses) or Hints()):
        if target in record.writes:
            yield TraceWrite(target, strategy, field)
