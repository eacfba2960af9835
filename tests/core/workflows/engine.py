"""Runs plans with capabilities that are functions of the test, in one thread and without a database."""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from registry.core.workflows.capability import Capability, Gate, Hints, Properties, Safety
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.host import Rules
from registry.core.workflows.plan import Plan, Step
from registry.core.workflows.policy import StandardPolicy, Verdict, read_verdict
from registry.core.workflows.records import Phase, StepRecord
from registry.core.workflows.run_tree import ROOT, Library, RunTree
from registry.core.workflows.scheduling import Scheduler
from registry.core.workflows.tasks import Answer, Ask, Decision, Outcome, RunEnd, Task
from registry.core.workflows.values import ANY, Field, Json, digest

INPUTS = ("value", "amount", "n", "paid", "from", "question", "fields")  # of every capability, of any type
Function = Callable[[dict[str, Json]], Json]


def capability(
    id_: str, *, safety: Safety | None = None, properties: Properties | None = None, hints: Hints | None = None,
    outputs: Iterable[str] = (), skill: str = "",
) -> Capability:  # fmt: skip
    safety, properties = safety or Safety(), properties or Properties(side_effects=False)
    document = {"id": id_, "safety": repr(safety), "properties": repr(properties)}
    binding = {"kind": "skill", "name": skill} if skill else {"kind": "builtin", "function": id_}
    return Capability(
        id_, "1", "", {name: Field(name, ANY) for name in INPUTS}, {name: Field(name, ANY) for name in outputs},
        binding, safety, properties, hints or Hints(), document=document, digest=digest(document),
    )  # fmt: skip


def plan(*steps: Step, inputs: Mapping[str, Field] | None = None, outputs: Iterable[str] = ()) -> Plan:
    """Return a plan of steps. The given outputs are required."""
    fields = {name: Field(name, "", required=True) for name in outputs}
    return Plan("test", "1", inputs or {}, fields, steps, _order(steps))


def _order(steps: tuple[Step, ...]) -> tuple[str, ...]:
    order: list[str] = []
    while len(order) < len(steps):
        order += [step.id for step in steps if step.id not in order and set(step.depends_on) <= set(order)]
    return tuple(dict.fromkeys(order))


def fails(message: str = "No.", *, retryable: bool = False, code: Code = Code.CALL) -> Function:
    def function(given: dict[str, Json]) -> Json:
        raise Refused(Outcome(failure=Failure(code, message), retryable=retryable))

    return function


class Refused(Exception):
    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


@dataclass
class Engine:
    """A run with its world: the calls that were made, the questions that were asked, and the rows that were stored."""

    plans: Mapping[str, Plan]
    functions: Mapping[str, Function] = field(default_factory=dict)
    capabilities: dict[str, Capability] = field(default_factory=dict)
    inputs: Mapping[str, Json] = field(default_factory=dict)
    trust: str = "standard"
    max_workers: int = 8
    fail_fast: bool = True
    deadline: float | None = None
    shuffle: random.Random | None = None
    calls: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    asks: dict[str, Ask] = field(default_factory=dict)
    rows: dict[str, StepRecord] = field(default_factory=dict)
    most_at_once: int = 0
    now: float = 1_000.0
    end: RunEnd | None = None

    def __post_init__(self) -> None:
        for name in self.functions:
            self.capabilities.setdefault(name, capability(name))
        self.scheduler = self.open([])
        self.pending: list[Task] = []

    def open(self, records: Iterable[StepRecord], asked: Iterable[str] = ()) -> Scheduler:
        library = Library(
            "lock", self.plans, {name: each.hints for name, each in self.capabilities.items()},
            {name: str(each.binding["name"]) for name, each in self.capabilities.items() if each.kind == "skill"},
            {name: tuple(each.outputs) for name, each in self.capabilities.items()},
        )  # fmt: skip
        tree = RunTree(library, dict(self.inputs))
        tree.replay(records)
        rules = Rules(StandardPolicy(), self.trust, self.find, self.max_workers, self.fail_fast, self.deadline)
        scheduler = Scheduler(tree, rules)
        scheduler.moment = self.now
        scheduler.resume(list(asked))
        return scheduler

    def find(self, name: str) -> Capability:
        if name not in self.capabilities:
            raise StepFailed(Code.CAPABILITY, f"There is no capability {name}.")
        return self.capabilities[name]

    def decide(self) -> Decision:
        decision = self.scheduler.decide(self.now)
        for record in decision.changed:
            self.rows[record.path] = replace(record, notes=dict(record.notes))
            if record.state != "waiting":
                self.asks.pop(record.path, None)
        for ask in decision.asks:
            self.asks[ask.path] = ask
        self.pending.extend(decision.tasks)
        self.most_at_once = max(self.most_at_once, len(self.scheduler.in_flight))
        self.end = decision.end
        return decision

    def run(self) -> "Engine":
        """Work until the run ends or waits for a person. Retries are due at once."""
        while self.end is None:
            decision = self.decide()
            if self.pending:
                index = self.shuffle.randrange(len(self.pending)) if self.shuffle else 0
                task = self.pending.pop(index)
                self.scheduler.report(task.path, self.perform(task), self.now)
            elif decision.goes_on:
                continue
            elif self.end is None and decision.wake_at is not None and not self.asks:
                self.now = max(self.now, decision.wake_at)
            elif self.end is None:
                return self
        return self

    def perform(self, task: Task) -> Outcome:
        if task.phase is not Phase.CALL:
            safety = task.capability.safety
            gates = safety.post_gates if task.phase is Phase.POST else safety.pre_gates
            given = task.output if task.phase is Phase.POST else task.request.input
            return Outcome(verdicts=tuple(self.ask_gate(gate, given) for gate in gates))
        self.calls.append((task.path, task.request.input))
        try:
            return Outcome(output=self.functions[task.capability.id](task.request.input))
        except Refused as refused:
            return refused.outcome

    def ask_gate(self, gate: Gate, given: Json) -> Verdict:
        try:
            return read_verdict(gate, self.functions[gate.capability](given))
        except Refused:
            return Verdict(gate.capability, gate.on_fail, None)

    def answer(self, path: str, *, approved: bool = True, **values: Any) -> "Engine":
        ask = self.asks.pop(path)
        self.scheduler.answer(Answer(path, approved, ask.digest, **values), self.now)
        return self.run()

    def crash(self) -> "Engine":
        """Lose the worker. Another one picks the run up from the rows."""
        self.pending = []
        self.scheduler = self.open([replace(row) for row in self.rows.values()], self.asks)
        return self

    def state(self, path: str) -> str:
        return str(self.rows[path].state)

    @property
    def called(self) -> list[str]:
        return [path for path, _ in self.calls]

    @property
    def outputs(self) -> Json:
        return self.end.outputs if self.end is not None else None


def engine(*steps: Step, functions: Mapping[str, Function], outputs: Iterable[str] = (), **options: Any) -> Engine:
    plans = {ROOT: plan(*steps, outputs=outputs), **options.pop("nested", {})}
    return Engine(plans, functions, **options)
