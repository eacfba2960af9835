"""The scope of one workflow in a run: its state, and which steps may begin. A nested skill has a scope of its own."""

from collections.abc import Mapping

from registry.core.workflows.failures import Failure
from registry.core.workflows.plan import Plan, Step
from registry.core.workflows.records import StepRecord, StepState
from registry.core.workflows.state import State
from registry.core.workflows.values import Json

AFTER_FAILURE = "Skipped: dependency failed"
AFTER_DENIAL = "Skipped: not approved"


class Scope:
    """`closing` is set when the workflow cannot go on. It ends as soon as nothing of it is `active`."""

    def __init__(self, plan: Plan, prefix: str, inputs: Mapping[str, Json], frame: Mapping[str, Json] | None) -> None:
        self.plan, self.prefix = plan, prefix
        self.state = State(inputs, frame)
        self.steps = {step.id: step for step in plan.steps}
        self.closing: tuple[StepState, Failure] | None = None
        self.active: set[str] = set()
        self.states: dict[str, StepState] = {}  # of the steps that ended
        self.blocked: dict[str, str] = {}  # why a step is skipped, because of a step before it
        self._left = {step.id: len(step.depends_on) for step in plan.steps}
        self._dependants: dict[str, list[str]] = {step.id: [] for step in plan.steps}
        for id_ in plan.order:
            for needed in self.steps[id_].depends_on:
                self._dependants[needed].append(id_)
        self._deniers: dict[str, list[str]] = {}
        for step in plan.steps:
            if step.on_deny:
                self._deniers.setdefault(step.on_deny, []).append(step.id)

    @property
    def depth(self) -> int:
        """The number of skills around this one."""
        return self.prefix.count("/")

    @property
    def is_done(self) -> bool:
        return not self.active and (self.closing is not None or len(self.states) == len(self.steps))

    def unblocked(self) -> list[str]:
        """Return the steps that wait for no other step and have not ended, in the order of the plan."""
        return [id_ for id_ in self.plan.order if not self._left[id_] and id_ not in self.states]

    def is_uncalled_for(self, step: Step) -> bool:
        """Return whether a step only runs after a denial, and nobody denied."""
        deniers = self._deniers.get(step.id)
        return bool(deniers) and all(self.states.get(id_) is not StepState.DENIED for id_ in deniers or ())

    def note_end(self, record: StepRecord) -> list[str]:
        """Remember how a step ended. Return the steps that need not wait any longer."""
        self.states[record.step] = record.state
        self.active.discard(record.path)
        freed = []
        for id_ in self._dependants[record.step]:
            self._left[id_] -= 1
            if reason := self._obstacle(record, id_):
                self.blocked.setdefault(id_, reason)
            if not self._left[id_]:
                freed.append(id_)
        return freed

    def _obstacle(self, record: StepRecord, dependant: str) -> str:
        if record.state is StepState.DENIED:
            return "" if self.steps[record.step].on_deny == dependant else AFTER_DENIAL
        if record.state in (StepState.FAILED, StepState.CANCELLED):
            return AFTER_FAILURE
        return record.reason if record.blocked else ""

    def blocked_by(self, failed: str) -> list[str]:
        """Return the steps that cannot run because of one that failed, directly or not."""
        found: set[str] = set()
        todo = [failed]
        while todo:
            for id_ in self._dependants[todo.pop()]:
                if id_ not in found:
                    found.add(id_)
                    todo.append(id_)
        return [id_ for id_ in self.plan.order if id_ in found and id_ not in self.states]
