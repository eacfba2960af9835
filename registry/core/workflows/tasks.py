"""Decisions of the scheduler: tasks to start, questions to ask, and the end of a run. Also the outcomes of tasks."""

from dataclasses import dataclass

from registry.core.workflows.capability import Capability
from registry.core.workflows.failures import Failure
from registry.core.workflows.plan import Approvers
from registry.core.workflows.policy import CallRequest, Verdict
from registry.core.workflows.records import Asks, Phase, RunState, StepRecord
from registry.core.workflows.values import Json

MAYBE_DONE = "The call may still have an effect."


@dataclass(frozen=True, slots=True)
class Task:
    """Work for an executor: gates, or the call itself. `request` has the arguments that the policy allowed."""

    phase: Phase
    request: CallRequest
    attempt: int
    seconds: float
    output: Json = None  # of the call, for the gates after it

    @property
    def path(self) -> str:
        return self.request.path

    @property
    def calls(self) -> int:
        """The number of calls that the task makes, one after the other."""
        safety = self.capability.safety
        gates = {Phase.PRE: safety.pre_gates, Phase.POST: safety.post_gates}.get(self.phase)
        return 1 if gates is None else max(1, len(gates))

    @property
    def capability(self) -> Capability:
        return self.request.capability


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a task: an output, verdicts, or a failure.

    `in_doubt` means that a call may have happened although it failed, and that it must not be made twice. `not_made`
    means that nothing has happened, and that the task has to start again. `cut_off` means that the process that did the
    task has ended or lost its connection, so that there will be no other outcome.
    """

    output: Json = None
    verdicts: tuple[Verdict, ...] | None = None
    failure: Failure | None = None
    retryable: bool = False
    in_doubt: bool = False
    retry_after: float = 0.0
    not_made: bool = False
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A question for people. `digest` is what an answer has to name."""

    kind: Asks
    record: StepRecord
    digest: str
    reason: str
    capability: Capability
    approvers: Approvers
    expires_seconds: float | None

    @property
    def path(self) -> str:
        return self.record.path


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision of people about a question. `output` is what they gave, or the output of a call that has happened."""

    path: str
    approved: bool
    digest: str
    output: Json = None
    happened: bool | None = None  # for a call in doubt
    comment: str = ""
    by: str = ""
    expired: bool = False


@dataclass(frozen=True, slots=True)
class RunEnd:
    state: RunState
    outputs: Json
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """`changed` are the records to store before any of the tasks starts. `wake_at` is when to decide again.

    `settled` are the paths whose question is no longer open.
    """

    changed: tuple[StepRecord, ...] = ()
    tasks: tuple[Task, ...] = ()
    asks: tuple[Ask, ...] = ()
    settled: tuple[str, ...] = ()
    end: RunEnd | None = None
    wake_at: float | None = None
    saturated: bool = False  # more could run, but `max_workers` tasks run already
    goes_on: bool = False  # more is to be decided, after this decision is stored
