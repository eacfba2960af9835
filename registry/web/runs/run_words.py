"""States, failures and people of runs in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.core import roles
from registry.core.workflows.failures import Code
from registry.core.workflows.records import Asks, RunState
from registry.models import Run
from registry.services.workflows.run_list import Waiting
from registry.web.humanize import counted, duration

_FEW = 3  # names in a sentence


@dataclass(frozen=True, slots=True)
class Badge:
    label: str
    tone: str
    icon: str


STATES = {
    RunState.QUEUED.value: Badge("Queued", "", "clock"),
    RunState.RUNNING.value: Badge("Running", "accent", "play"),
    RunState.WAITING.value: Badge("Waiting", "accent", "person"),
    RunState.COMPLETED.value: Badge("Completed", "ok", "check"),
    RunState.FAILED.value: Badge("Failed", "danger", "error"),
    RunState.CANCELLED.value: Badge("Cancelled", "", "stop"),
    RunState.DENIED.value: Badge("Denied", "danger", "x"),
    RunState.EXPIRED.value: Badge("Expired", "warn", "clock"),
}
KINDS = {Asks.APPROVE.value: "approval", Asks.INPUT.value: "input", Asks.DOUBT.value: "answer"}

# The next step of a person, for each reason of a failure.
_ADVICE: Mapping[str, str] = {
    Code.INPUT: "Correct the input of this step in workflow.yaml, or start the run with other inputs.",
    Code.OUTPUT: "Correct the outputs of this step in workflow.yaml, or ask an operator to correct the capability.",
    Code.EXPRESSION: "Correct the expression in workflow.yaml, and start a new run.",
    Code.ROUTER: "Add a case for this value or a default to the router in workflow.yaml.",
    Code.CAPABILITY: "Ask an operator to register the capability, or use another one in workflow.yaml.",
    Code.CALL: "Replay the run from this step when the cause is gone. Finished steps are not repeated. "
    "If the inputs are the cause, start a new run: a replay has the same ones.",
    Code.TIMEOUT: "Replay the run from this step, or give it more time with timeout_seconds.",
    Code.LIMIT: "Divide the work into smaller runs.",
    Code.DEADLINE: "Replay the run with the steps that are finished, or start one with a later deadline.",
    Code.UNAVAILABLE: "The service failed several times. Replay the run from this step in a few minutes.",
    Code.DENIED: "Replay the run from this step to ask again.",
    Code.EXPIRED: "Replay the run from this step to ask again.",
    Code.SAFETY_TRUST: "Ask somebody with a higher role to start it, or an owner to raise the agent’s trust level.",
    Code.SAFETY_GATE: "Change what the step sends, and start a new run. Nobody can overrule this gate.",
    Code.SAFETY_GATE_ERROR: "A call without a verdict is never made. Replay the run when the gate works again.",
    Code.SAFETY_TARGET: "Use a target that the capability allows, or ask an operator to allow this one.",
}
# The same for a single call, which has no workflow and no button to replay it.
_ADVICE_FOR_CALLS: Mapping[str, str] = {
    Code.INPUT: "Make the call again with other inputs.",
    Code.OUTPUT: "Ask an operator to correct the capability.",
    Code.CAPABILITY: "Ask an operator to register the capability.",
    Code.CALL: "Make the call again when the cause is gone.",
    Code.TIMEOUT: "Make the call again, or ask an operator to give the capability more time.",
    Code.DEADLINE: "Make the call again.",
    Code.UNAVAILABLE: "The service failed several times. Make the call again in a few minutes.",
    Code.DENIED: "Make the call again to ask again.",
    Code.EXPIRED: "Make the call again to ask again.",
    Code.SAFETY_GATE: "Make the call again with other inputs. Nobody can overrule this gate.",
    Code.SAFETY_GATE_ERROR: "A call without a verdict is never made. Make the call again when the gate works again.",
}
_ROLES = {roles.REVIEWER: "a reviewer", roles.OWNER: "an owner", roles.AUTHOR: "an author", roles.VIEWER: "a viewer"}


def advice(code: str, *, is_single_call: bool = False) -> str:
    of_calls = _ADVICE_FOR_CALLS if is_single_call else {}
    return of_calls.get(code) or _ADVICE.get(code, "")


def state_badge(run: Run, waiting: Waiting | None = None) -> Badge:
    """Return the state of a run, which names the person for whom it waits if that is the reader."""
    badge = STATES[run.state]
    if not run.is_finished and run.cancelled_by:
        return Badge("Being cancelled", "", "stop")
    if waiting is None or run.is_finished:
        return badge
    return Badge("Waiting for you" if waiting.is_for_me else "Waiting", "accent", "person")


def asked(waiting: Waiting) -> str:
    """Return the people who are asked: "you", "tomas or a reviewer", "a reviewer"."""
    if waiting.is_for_me:
        return "you"
    named = [*waiting.people[:_FEW], *(_ROLES.get(role, role) for role in waiting.roles[:_FEW])]
    return either(named) if named else "a reviewer"


def either(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def several(names: Sequence[str]) -> str:
    """Return names as "a, b and c", or "a, b, c and 4 more"."""
    if len(names) > _FEW + 1:
        return f"{', '.join(names[:_FEW])} and {counted(len(names) - _FEW, 'more,more')}"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def took(run: Run) -> str:
    """Return how long a finished run took, with the time that it waited for people."""
    return duration((run.finished_at - run.created_at).total_seconds()) if run.finished_at else ""
