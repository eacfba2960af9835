"""The life of a proposal: every row of its table, every refusal, and the diagram that is drawn from it."""

from itertools import product
from pathlib import Path

import pytest
from django.conf import settings

from registry.core.errors import AlreadyDecided, Conflict, StaleProposal
from registry.core.proposals import lifecycle
from registry.core.proposals.lifecycle import FINAL, TABLE, UNDECIDED, Action, State, Transition, Who

EVERY = list(product(State, Action, Who))
REFUSED = [each for each in EVERY if each not in {(row.state, row.action, row.who) for row in TABLE}]
PAGE = Path(settings.BASE_DIR) / "docs" / "proposals.md"

# What each state can become, as it is promised to whoever reads the API.
PROMISED = {
    State.OPEN: {State.APPROVED, State.REJECTED, State.WITHDRAWN, State.CHANGES_REQUESTED, State.STALE, State.OPEN},
    State.CHANGES_REQUESTED: {State.OPEN, State.REJECTED, State.WITHDRAWN, State.STALE},
    State.STALE: {State.OPEN, State.REJECTED, State.WITHDRAWN},
    State.APPROVED: set(),
    State.REJECTED: set(),
    State.WITHDRAWN: set(),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.state}-{row.action}-{row.who}")
def test_a_row_of_the_table_is_a_step(row: Transition) -> None:
    assert lifecycle.step(row.state, row.action, row.who) is row.next


@pytest.mark.parametrize(("state", "action", "who"), REFUSED, ids="-".join)
def test_transition_outside_the_table_is_refused(state: State, action: Action, who: Who) -> None:
    with pytest.raises(Conflict) as refused:
        lifecycle.step(state, action, who)
    assert refused.value.data["state"] == state


@pytest.mark.parametrize("state", FINAL)
def test_a_decided_proposal_says_that_it_is_decided(state: State) -> None:
    for action, who in product(Action, Who):
        with pytest.raises(AlreadyDecided, match=state):
            lifecycle.step(state, action, who)


@pytest.mark.parametrize("action", [Action.APPROVE, Action.REQUEST_CHANGES])
def test_a_stale_proposal_says_why_it_is_stale(action: Action) -> None:
    with pytest.raises(StaleProposal, match="It is something else now"):
        lifecycle.step(State.STALE, action, Who.REVIEWER, reason="It is something else now.")


def test_reachable_states_are_as_documented() -> None:
    assert {state: {row.next for row in TABLE if row.state is state} for state in State} == PROMISED


def test_only_reviewers_approve_and_only_open_proposals() -> None:
    assert [row for row in TABLE if row.next is State.APPROVED] == [
        Transition(State.OPEN, Action.APPROVE, Who.REVIEWER, State.APPROVED)
    ]


def test_every_state_is_either_undecided_or_final() -> None:
    assert sorted((*UNDECIDED, *FINAL)) == sorted(State)


def test_allowed_actions_follow_the_table() -> None:
    assert lifecycle.allowed(State.STALE, Who.PROPOSER) == (Action.REBASE, Action.REVISE, Action.WITHDRAW)
    assert lifecycle.allowed(State.APPROVED, Who.REVIEWER) == ()


def test_the_diagram_in_the_documentation_is_the_table() -> None:
    assert f"```mermaid\n{lifecycle.diagram()}```" in PAGE.read_text()


def test_the_diagram_names_every_transition_and_its_actor() -> None:
    drawn = lifecycle.diagram()
    for row in TABLE:
        assert row.action in drawn and row.who in drawn
    assert drawn.count("-->") == len({(row.state, row.next) for row in TABLE}) + 1 + len(FINAL)
