"""The only way to a capability: check the policy once more, then run the gates or the call of one task."""

import logging
from collections.abc import Callable

from registry.core.workflows import references
from registry.core.workflows.capability import BLOCK, DEGRADE, Capability, Gate
from registry.core.workflows.capability_gates import unfit
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.policy import PolicyEngine, Rule, Verdict, read_verdict
from registry.core.workflows.records import Phase
from registry.core.workflows.tasks import Outcome, Task
from registry.core.workflows.values import Json, canonical, digest
from registry.services.capabilities import calls

log = logging.getLogger(__name__)
MOST_OUTPUT_CHARS = 1024 * 1024
Verdicts = dict[tuple[str, str], Verdict]  # of deterministic gates, by definition and input


def run_key(run_id: int) -> str:
    """Return the start of the idempotency keys of a run's calls. The path of the call follows it."""
    return f"run-{run_id}"


def call_key(run_key: str, path: str) -> str:
    return f"{run_key}/{path}"


class Dispatcher:
    """Performs tasks. It keeps the verdicts of deterministic gates, so use one for each run."""

    def __init__(self, key: str, policy: PolicyEngine, capability_of: Callable[[str], Capability]) -> None:
        self._key, self._policy, self._capability_of = key, policy, capability_of
        self._verdicts: Verdicts = {}

    def perform(self, task: Task) -> Outcome:
        """Return the outcome of a task. Never raises."""
        try:
            return self._call(task) if task.phase is Phase.CALL else self._gates(task)
        except Exception:
            log.exception("A task of the run %s failed at %s.", self._key, task.path)
            in_doubt = task.phase is Phase.CALL and not task.capability.properties.may_repeat
            return Outcome(failure=Failure(Code.CALL, "The call failed unexpectedly."), in_doubt=in_doubt)

    def _call(self, task: Task) -> Outcome:
        ruling = self._policy.before(task.request)
        if ruling.rule is not Rule.PROCEED:
            message = f"{task.capability.id} was not called, because the policy does not allow this call any longer."
            return Outcome(failure=ruling.failure or Failure(Code.SAFETY_GATE, message))
        result = calls.call(
            task.capability, task.request.input, key=call_key(self._key, task.path), seconds=task.seconds
        )
        if result.output is not None and len(canonical(result.output)) > MOST_OUTPUT_CHARS:
            message = f"The output has more than {MOST_OUTPUT_CHARS:,} characters. Return less, or store it elsewhere."
            return Outcome(failure=Failure(Code.OUTPUT, message))
        return Outcome(
            output=result.output, failure=result.failure, retryable=result.retryable, in_doubt=result.in_doubt,
            retry_after=result.retry_after or 0.0,
        )  # fmt: skip

    def _gates(self, task: Task) -> Outcome:
        """Ask the gates in their order, up to the first that stops the call."""
        safety, after = task.capability.safety, task.phase is Phase.POST
        verdicts: list[Verdict] = []
        for gate in safety.post_gates if after else safety.pre_gates:
            verdict = self._ask(gate, task, {"input": task.request.input, "output": task.output}, after=after)
            verdicts.append(verdict)
            if verdict.allowed is None or (not verdict.allowed and verdict.on_fail in (BLOCK, DEGRADE)):
                break
        return Outcome(verdicts=tuple(verdicts))

    def _ask(self, gate: Gate, task: Task, values: dict[str, Json], *, after: bool) -> Verdict:
        failed = Verdict(gate.capability, gate.on_fail, None)
        try:
            capability = self._capability_of(gate.capability)
            given = _gate_input(gate, capability, values, values["output" if after else "input"])
        except (StepFailed, references.Missing, references.Unreadable):
            return failed
        if unfit(capability):  # its definition changed after that of the guarded one was checked
            return failed
        known = (capability.digest, digest(given))
        if known not in self._verdicts:
            key = f"{call_key(self._key, task.path)}:{gate.capability}"
            result = calls.call(capability, given, key=key, seconds=task.seconds)
            if result.output is None:
                return failed
            verdict = read_verdict(gate, result.output)
            if not capability.properties.deterministic:
                return verdict
            self._verdicts[known] = verdict
        found = self._verdicts[known]
        return Verdict(gate.capability, gate.on_fail, found.allowed, found.reason)


def _gate_input(gate: Gate, capability: Capability, values: dict[str, Json], whole: Json) -> dict[str, Json]:
    """Return the input of a gate: its mapping, or the fields of the guarded value that it knows."""
    if gate.input is not None:
        mapped: dict[str, Json] = references.resolve(dict(gate.input), _nothing, values)
        return mapped
    return {name: whole[name] for name in capability.inputs if isinstance(whole, dict) and name in whole}


def _nothing(path: tuple[str, ...]) -> Json:
    raise references.Unreadable(f"{references.show(path)} cannot be read in the input of a gate.")
