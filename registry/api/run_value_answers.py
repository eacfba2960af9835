"""Answers about the values of runs: large ones, the state, the trace and the lineage."""

from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from registry.core.workflows.trace import Contribution, TraceStep, TraceWrite
from registry.lib.json_types import Timestamp


class TraceWriteShape(TypedDict):
    target: str
    strategy: str
    source: str


class TraceStepShape(TypedDict):
    path: str
    capability: str
    state: str
    reads: list[str]
    writes: list[TraceWriteShape]
    attempts: int
    started_at: Timestamp | None
    ended_at: Timestamp | None
    latency_ms: int | None


class ContributionShape(TypedDict):
    path: str
    capability: str
    reads: list[str]
    writes: list[TraceWriteShape]


class LineageShape(TypedDict):
    of: str
    steps: Annotated[list[ContributionShape], "The steps behind the value, in the order in which they ended."]


class RunValuesShape(TypedDict):
    inputs: Any
    outputs: Any


class StepValuesShape(TypedDict):
    path: str
    input: Any
    output: Any


class RunStateShape(TypedDict):
    """The namespaces of the state, with everything that the steps wrote."""

    inputs: dict[str, Any]
    vars: dict[str, Any]
    outputs: dict[str, Any]
    frame: dict[str, Any]
    working: dict[str, Any]
    output: dict[str, Any]
    extensions: dict[str, Any]


def traced_shape(step: TraceStep) -> TraceStepShape:
    return {
        "path": step.path,
        "capability": step.capability,
        "state": step.state,
        "reads": list(step.reads),
        "writes": _writes(step.writes),
        "attempts": step.attempts,
        "started_at": step.started_at or None,
        "ended_at": step.ended_at or None,
        "latency_ms": step.latency_ms,
    }


def lineage_shape(target: str, found: Iterable[Contribution]) -> LineageShape:
    steps: list[ContributionShape] = [
        {"path": each.path, "capability": each.capability, "reads": list(each.reads), "writes": _writes(each.writes)}
        for each in found
    ]
    return {"of": target, "steps": steps}


def _writes(writes: Iterable[TraceWrite]) -> list[TraceWriteShape]:
    return [{"target": write.target, "strategy": write.strategy, "source": write.source} for write in writes]
