"""The life of a proposal as one table: in which state, who may do what, and what becomes of it."""

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
    OVERTAKE = "overtake"  # the skill itself moved on


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
    Transition(State.OPEN, Action.OVERTAKE, Who.SYSTEM, State.STALE),
    Transition(State.CHANGES_REQUESTED, Action.REVISE, Who.PROPOSER, State.OPEN),
    Transition(State.CHANGES_REQUESTED, Action.REJECT, Who.REVIEWER, State.REJECTED),
    Transition(State.CHANGES_REQUESTED, Action.WITHDRAW, Who.PROPOSER, State.WITHDRAWN),
    Transition(State.CHANGES_REQUESTED, Action.OVERTAKE, Who.SYSTEM, State.STALE),
    Transition(State.STALE, Action.REBASE, Who.REVIEWER, State.OPEN),
    Transition(State.STALE, Action.REBASE, Who.PROPOSER, State.OPEN),
    Transition(State.STALE, Action.REVISE, Who.PROPOSER, State.OPEN),
    Transition(State.STALE, Action.REJECT, Who.REVIEWER, State.REJECTED),
    Transition(State.STALE, Action.WITHDRAW, Who.PROPOSER, State.WITHDRAWN),
)
_NEXT = {(each.state, each.action, each.who): each.next for each in TABLE}

_WAITING_FOR_PROPOSER = "Changes were asked for. It can be approved once its proposer has revised it."


def overtaken_states() -> tuple[State, ...]:
    return tuple(each.state for each in TABLE if each.action is Action.OVERTAKE)


def step(state: State, action: Action, who: Who, *, reason: str = "") -> State:
    """The next state, or the refusal; `reason` is why a stale proposal is stale."""
    found = _NEXT.get((state, action, who))
    if found is not None:
        return found
    if state in FINAL:
        raise AlreadyDecided(f"The proposal was {state} already. Nothing was changed.", state=str(state))
    if state is State.STALE:
        said = reason or "The skill moved on since the proposal was made."
        raise StaleProposal(f"{said} Rebase or revise the proposal first. Nothing was changed.", state=str(state))
    if state is State.CHANGES_REQUESTED and who is Who.REVIEWER:
        raise Conflict(f"{_WAITING_FOR_PROPOSER} Nothing was changed.", state=str(state))
    raise Conflict(f"“{action}” is not for a proposal that is {state}. Nothing was changed.", state=str(state))


def allowed(state: State, who: Who) -> tuple[Action, ...]:
    """What somebody may do to a proposal in a state, in the order of the table."""
    return tuple(each.action for each in TABLE if each.state is state and each.who is who)


def diagram() -> str:
    """The table as a Mermaid diagram."""
    named = [f'    state "{state}" as {_id(state)}' for state in State if _id(state) != state]
    edges = [f"    {_id(a)} --> {_id(b)}: {said}" for (a, b), said in _labels().items()]
    ends = [f"    {_id(state)} --> [*]" for state in FINAL]
    return "\n".join(["stateDiagram-v2", *named, f"    [*] --> {_id(State.OPEN)}: propose", *edges, *ends]) + "\n"


def _labels() -> dict[tuple[State, State], str]:
    """One label for each edge: the actions along it, and who takes each."""
    whos: dict[tuple[State, State], dict[Action, list[Who]]] = {}
    for each in TABLE:
        whos.setdefault((each.state, each.next), {}).setdefault(each.action, []).append(each.who)
    return {
        edge: ", ".join(f"{action} ({' or '.join(people)})" for action, people in actions.items())
        for edge, actions in whos.items()
    }


def _id(state: State) -> str:
    return state.replace("-", "_")
