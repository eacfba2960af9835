"""The record of a step: what the run engine decided about one path, and what came of it.

Records are the whole truth of a run. `began` and `ended` are numbers of one sequence, so that replaying the records in
that order gives the same state again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from registry.core.workflows.failures import Failure
from registry.core.workflows.policy import Verdict
from registry.core.workflows.values import Json


class StepState(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"  # for a person
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    DEGRADED = "degraded"  # a gate withheld the call or its output
    DENIED = "denied"
    CANCELLED = "cancelled"


ENDED = frozenset(
    {
        StepState.COMPLETED,
        StepState.FAILED,
        StepState.SKIPPED,
        StepState.DEGRADED,
        StepState.DENIED,
        StepState.CANCELLED,
    }
)


class RunState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DENIED = "denied"
    EXPIRED = "expired"


FINAL = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.DENIED, RunState.EXPIRED})


class Shape(StrEnum):
    """The kind of work at a path. A call may be a step, or one of the calls of a group."""

    CALL = "call"
    NESTED = "nested"  # the steps of a nested skill
    HUMAN = "human"  # a question to a person
    FOREACH = "foreach"
    WHILE = "while"
    SCATTER = "scatter"


GROUPS = frozenset({Shape.FOREACH, Shape.WHILE, Shape.SCATTER})


class Phase(StrEnum):
    """The progress of a call: its gates before it, the call itself, or its gates after it."""

    NEW = ""
    PRE = "pre"
    CALL = "call"
    POST = "post"


class Asks(StrEnum):
    """The kinds of questions to people."""

    APPROVE = "approve"
    INPUT = "input"
    DOUBT = "doubt"  # whether a call that was cut off has happened


@dataclass(slots=True)
class StepRecord:
    """One path of a run. `input` is frozen when the path begins: people approve it, and every attempt sends it.

    `blocked` is true for a step that was skipped because a step before it failed or was denied. Its dependants are
    skipped too. `held` is an output that the gates after the call have not released. For a foreach, `input` has the
    items.
    """

    path: str
    step: str
    shape: Shape
    state: StepState
    began: int
    uses: str = ""
    input: Json = None
    output: Json = None
    held: Json = None
    phase: Phase = Phase.NEW
    attempts: int = 0
    failure: Failure | None = None
    reason: str = ""
    blocked: bool = False
    verdicts: tuple[Verdict, ...] | None = None
    post_verdicts: tuple[Verdict, ...] | None = None
    approvals: tuple[str, ...] = ()
    asks: str = ""  # the kind of the open question
    wake_at: float | None = None
    ended: int | None = None
    definition: str = ""  # the digest of the capability that was called
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)  # such as the case of a router or the count of a foreach

    @property
    def is_over(self) -> bool:
        return self.ended is not None


def in_order(records: Iterable[StepRecord]) -> list[tuple[int, StepRecord, bool]]:
    """Return when each record began and ended, in the order of the run. The last item is true for an end."""
    moments = [(record.began, record, False) for record in records]
    moments += [(record.ended, record, True) for record in records if record.ended is not None]
    return sorted(moments, key=lambda moment: (moment[0], moment[2]))
