"""Eight processes decide about one proposal at the same moment: one of them wins, and the record tells the same."""

from typing import Any

import pytest

from tests.faults.crew import Crew

pytestmark = pytest.mark.races

Outcome = dict[str, str]


def _race(crew: Crew, slug: str, made: dict[str, Any], acts: list[tuple[str, ...]]) -> tuple[list[str], list[Outcome]]:
    """What was done, and what was refused."""
    outcomes = crew.at_once("decide", [(slug, what, who, made, *said) for what, who, *said in acts])
    return [one["what"] for one in outcomes if "refused" not in one], [one for one in outcomes if "refused" in one]


def _check_record(crew: Crew, slug: str, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = crew.do("reviewed", slug, made["id"])
    assert found["doubts"] == []
    assert crew.do("state", slug)["broken"] == []
    decisions = {"proposal.approved", "proposal.rejected", "proposal.withdrawn"}
    assert sum(verb in decisions for verb in found["events"]) == (
        found["state"] in {"approved", "rejected", "withdrawn"}
    )
    assert found["approvals"] == ([made["result"]] if found["state"] == "approved" else [])
    return found


def test_of_many_approvals_one_applies_and_the_others_are_told(crew: Crew, rounds: int) -> None:
    crew.do("make_review", "twice")
    for turn in range(rounds):
        made = crew.do("suggest", "twice", f"Round {turn}")
        done, refused = _race(crew, "twice", made, [("approve", "ana"), ("approve", "ben")] * 4)
        assert done == ["approve"]
        assert [one["refused"] for one in refused] == ["already-decided"] * 7
        assert _check_record(crew, "twice", made)["served"] == made["result"]


def test_an_approval_and_a_save_never_both_count(crew: Crew, rounds: int) -> None:
    crew.do("make_review", "saving-too")
    winners = []
    for turn in range(rounds):
        made = crew.do("suggest", "saving-too", f"Round {turn}")
        acts = [("approve", "ana"), ("save", "cy", f"Saved in round {turn}")] * 4
        done, refused = _race(crew, "saving-too", made, acts)
        found = _check_record(crew, "saving-too", made)
        # All saves are of the same text, so the second one that comes finds it saved already, or is told of the first.
        assert len(set(done)) == 1
        winners.append(done[0])
        if done[0] == "approve":
            assert (len(done), found["state"], found["served"]) == (1, "approved", made["result"])
            assert {one["refused"] for one in refused if one["what"] == "save"} == {"stale"}
            assert {one["refused"] for one in refused if one["what"] == "approve"} <= {"already-decided"}
        else:
            assert (found["state"], found["approvals"]) == ("stale", [])
            assert found["served"] != made["result"]
            assert {one["refused"] for one in refused if one["what"] == "approve"} == {"stale"}
            crew.do("decide", "saving-too", "withdraw", "bot", made)
    assert winners


def test_an_approval_and_a_withdrawal_never_both_count(crew: Crew, rounds: int) -> None:
    crew.do("make_review", "taking-back")
    for turn in range(rounds):
        made = crew.do("suggest", "taking-back", f"Round {turn}")
        done, refused = _race(crew, "taking-back", made, [("approve", "ana"), ("withdraw", "bot")] * 4)
        assert len(done) == 1
        assert [one["refused"] for one in refused] == ["already-decided"] * 7
        found = _check_record(crew, "taking-back", made)
        assert found["state"] == {"approve": "approved", "withdraw": "withdrawn"}[done[0]]
        assert (found["served"] == made["result"]) == (done == ["approve"])


def test_an_approval_and_a_revision_never_mix_what_was_seen(crew: Crew, rounds: int) -> None:
    crew.do("make_review", "revising")
    for turn in range(rounds):
        made = crew.do("suggest", "revising", f"Round {turn}")
        acts = [("approve", "ana"), ("revise", "bot", f"Revised in round {turn}")] * 4
        done, refused = _race(crew, "revising", made, acts)
        found = crew.do("reviewed", "revising", made["id"])
        assert len(done) == 1
        assert found["doubts"] == []
        if done == ["approve"]:
            assert (found["state"], found["served"], found["approvals"]) == (
                "approved",
                made["result"],
                [made["result"]],
            )
        else:
            assert (found["state"], found["revision"], found["approvals"]) == ("open", 2, [])
            assert found["served"] != made["result"]
            assert {one["refused"] for one in refused} == {"conflict"}
            crew.do("decide", "revising", "withdraw", "bot", made)


def test_the_same_suggestion_from_many_is_one_proposal(crew: Crew, rounds: int) -> None:
    crew.do("make_review", "agreeing")
    for turn in range(rounds):
        said = f"Round {turn}"
        acts = [("suggest", who, said) for who in ("bot", "ana", "ben", "cy")] * 2
        done, refused = _race(crew, "agreeing", {"id": 0, "result": "", "base": ""}, acts)
        assert (len(done), refused) == (8, [])
        made = crew.do("suggest", "agreeing", said)
        found = crew.do("reviewed", "agreeing", made["id"])
        assert (found["waiting"], found["backers"]) == (1, 4)
        assert sorted(found["events"]) == ["proposal.joined"] * 3 + ["proposal.opened"]
        proposer = crew.do("decide", "agreeing", "reject", "ana", made)
        assert proposer == {"what": "reject"}
