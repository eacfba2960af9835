"""State machine of a proposal, as one table: state, action, actor, next state."""

from dataclasses import dataclass
from enum import StrEnum

from registry.core.errors import AlreadyDecided, Conflict, StaleProposal


class State(StrEnum):
    OPEN = "open"
    CHANGES_REQUESTED = "changes-requested"
    STALE = "stale"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class Action(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request-changes"
    REVISE = "revise"
    WITHDRAW = "withdraw"
    REBASE = "rebase"
    OUTDATE = "outdate"  # the skill changed


class Who(StrEnum):
    PROPOSER = "proposer"
    REVIEWER = "reviewer"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Transition:
    state: State
    action: Action
    who: Who
    next: State


UNDECIDED = (State.OPEN, State.CHANGES_REQUESTED, State.STALE)
FINAL = (State.APPROVED, State.REJECTED, State.WITHDRAWN)

TABLE = (
    Transition(State.OPEN, Action.APPROVE, Who.REVIEWER, State.APPROVED),
    Transition(State.OPEN, Action.REJECT, Who.REVIEWER, State.REJECTED),
    Transition(State.OPEN, Action.REQUEST_CHANGES, Who.REVIEWER, State.CHANGES_REQUESTED),
    Transition(State.OPEN, Action.REVISE, Who.PROPOSER, State.OPEN),
    Transition(State.OPEN, Action.WITHDRAW, Who.PROPOSER, State.WITHDRAWN),
    Transition(State.OPEN, Action.OUTDATE, Who.SYSTEM, State.STALE),
    Transition(State.CHANGES_REQUESTED, Action.REVISE, Who.PROPOSER, State.OPEN),
    Transition(State.CHANGES_REQUESTED, Action.REJECT, Who.REVIEWER, State.REJECTED),
    Transition(State.CHANGES_REQUESTED, Action.WITHDRAW, Who.PROPOSER, State.WITHDRAWN),
    Transition(State.CHANGES_REQUESTED, Action.OUTDATE, Who.SYSTEM, State.STALE),
    Transition(State.STALE, Action.REBASE, Who.REVIEWER, State.OPEN),
    Transition(State.STALE, Action.REBASE, Who.PROPOSER, State.OPEN),
    Transition(State.STALE, Action.REVISE, Who.PROPOSER, State.OPEN),
    Transition(State.STALE, Action.REJECT, Who.REVIEWER, State.REJECTED),
    Transition(State.STALE, Action.WITHDRAW, Who.PROPOSER, State.WITHDRAWN),
)
_NEXT = {(each.state, each.action, each.who): each.next for each in TABLE}

_WAITING_FOR_PROPOSER = "A reviewer requested changes. The proposal can be approved once its proposer has revised it."


def states_that_become_stale() -> tuple[State, ...]:
    return tuple(each.state for each in TABLE if each.action is Action.OUTDATE)


def step(state: State, action: Action, who: Who, *, reason: str = "") -> State:
    """Return the next state, or raise a Conflict. `reason` says why a stale proposal is stale."""
    next_state = _NEXT.get((state, action, who))
    if next_state is not None:
        return next_state
    if state in FINAL:
        raise AlreadyDecided(f"The proposal was already {state}. Nothing was changed.", state=str(state))
    if state is State.STALE:
        reason = reason or "The skill has changed since the proposal was made."
        raise StaleProposal(f"{reason} Rebase or revise the proposal first. Nothing was changed.", state=str(state))
    if state is State.CHANGES_REQUESTED and who is Who.REVIEWER:
        raise Conflict(f"{_WAITING_FOR_PROPOSER} Nothing was changed.", state=str(state))
    raise Conflict(f"A proposal that is {state} does not allow {action}. Nothing was changed.", state=str(state))


def allowed(state: State, who: Who) -> tuple[Action, ...]:
    """Return the actions that are allowed in a state, in the order of the table."""
    return tuple(each.action for each in TABLE if each.state is state and each.who is who)


def diagram() -> str:
    """Return the table as a Mermaid diagram."""
    aliases = [f'    state "{state}" as {_id(state)}' for state in State if _id(state) != state]
    edges = [f"    {_id(a)} --> {_id(b)}: {label}" for (a, b), label in _labels().items()]
    ends = [f"    {_id(state)} --> [*]" for state in FINAL]
    return "\n".join(["stateDiagram-v2", *aliases, f"    [*] --> {_id(State.OPEN)}: propose", *edges, *ends]) + "\n"


def _labels() -> dict[tuple[State, State], str]:
    """Return a label for each edge: its actions, and who may take each."""
    whos: dict[tuple[State, State], dict[Action, list[Who]]] = {}
    for each in TABLE:
        whos.setdefault((each.state, each.next), {}).setdefault(each.action, []).append(each.who)
    return {
        edge: ", ".join(f"{action} ({' or '.join(people)})" for action, people in actions.items())
        for edge, actions in whos.items()
    }


def _id(state: State) -> str:
    return state.replace("-", "_")
