"""Interfaces between the scheduler and the flows of calls and groups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from registry.core.workflows.budget import Budget
from registry.core.workflows.capability import Capability
from registry.core.workflows.failures import Failure
from registry.core.workflows.groups import Group
from registry.core.workflows.plan import Step
from registry.core.workflows.policy import CallRequest, PolicyEngine
from registry.core.workflows.records import Asks, StepRecord, StepState
from registry.core.workflows.run_tree import RunTree
from registry.core.workflows.scope import Scope
from registry.core.workflows.state import State
from registry.core.workflows.tasks import Ask, Task
from registry.core.workflows.values import Json


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one run. `deadline` is a moment of the caller's clock."""

    policy: PolicyEngine
    trust: str
    capability_of: Callable[[str], Capability]
    max_workers: int = 8
    fail_fast: bool = True
    deadline: float | None = None


class Calls(Protocol):
    def begin(self, scope: Scope, step: Step, record: StepRecord, local: Mapping[str, Json] | None = None) -> None: ...

    def complete(self, record: StepRecord, output: Json) -> None: ...

    def fail(self, record: StepRecord, failure: Failure, *, state: StepState = StepState.FAILED) -> None: ...

    def cancel(self, record: StepRecord) -> None: ...

    def release(self, record: StepRecord, output: Json) -> None: ...

    def ask(self, record: StepRecord, request: CallRequest, kind: Asks, digest: str, reason: str) -> None: ...

    def capability(self, uses: str) -> Capability: ...

    def request(self, record: StepRecord, capability: Capability) -> CallRequest: ...


class Groups(Protocol):
    def progress(self, group: Group) -> None: ...


class Host(Protocol):
    moment: float
    in_flight: set[str]
    retrying: set[str]

    budget: Budget

    @property
    def tree(self) -> RunTree: ...

    @property
    def rules(self) -> Rules: ...

    @property
    def calls(self) -> Calls: ...

    @property
    def groups(self) -> Groups: ...

    def start(self, task: Task) -> None: ...

    def ask(self, question: Ask) -> None: ...

    def change(self, record: StepRecord) -> None: ...

    def go_on(self, record: StepRecord) -> None: ...

    def end_record(self, record: StepRecord, state: StepState) -> None: ...

    def enqueue_group(self, path: str) -> None: ...

    def evaluate(self, state: State, text: str) -> Json: ...

    def open_nested(self, record: StepRecord, skill: str, inputs: dict[str, Json]) -> None: ...

    def close(self, scope: Scope, state: StepState, failure: Failure) -> None: ...
