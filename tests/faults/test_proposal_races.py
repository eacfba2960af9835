"""Eight processes decide on one proposal at the same moment: one wins, and the audit log agrees."""

from typing import Any

import pytest

from tests.faults.process_pool import ProcessPool

pytestmark = pytest.mark.races

Outcome = dict[str, str]


def _race(
    pool: ProcessPool, slug: str, made: dict[str, Any], acts: list[tuple[str, ...]]
) -> tuple[list[str], list[Outcome]]:
    """Return the decisions that were accepted, and those that were refused."""
    outcomes = pool.at_once("decide", [(slug, what, who, made, *said) for what, who, *said in acts])
    return [one["what"] for one in outcomes if "refused" not in one], [one for one in outcomes if "refused" in one]


def _check_record(pool: ProcessPool, slug: str, made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pool.do("reviewed", slug, made["id"])
    assert found["doubts"] == []
    assert pool.do("state", slug)["broken"] == []
    decisions = {"proposal.approved", "proposal.rejected", "proposal.withdrawn"}
    assert sum(verb in decisions for verb in found["events"]) == (
        found["state"] in {"approved", "rejected", "withdrawn"}
    )
    assert found["approvals"] == ([made["result"]] if found["state"] == "approved" else [])
    return found


def test_one_of_many_approvals_is_accepted_and_the_others_get_an_error(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_review", "twice")
    for turn in range(rounds):
        made = pool.do("propose", "twice", f"Round {turn}")
        done, refused = _race(pool, "twice", made, [("approve", "ana"), ("approve", "ben")] * 4)
        assert done == ["approve"]
        assert [one["refused"] for one in refused] == ["already-decided"] * 7
        assert _check_record(pool, "twice", made)["served"] == made["result"]


def test_an_approval_and_a_save_are_never_both_accepted(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_review", "saving-too")
    winners = []
    for turn in range(rounds):
        made = pool.do("propose", "saving-too", f"Round {turn}")
        acts = [("approve", "ana"), ("save", "cy", f"Saved in round {turn}")] * 4
        done, refused = _race(pool, "saving-too", made, acts)
        found = _check_record(pool, "saving-too", made)
        # All saves have the same text, so a second save is unchanged or stale.
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
            pool.do("decide", "saving-too", "withdraw", "bot", made)
    assert winners


def test_an_approval_and_a_withdrawal_are_never_both_accepted(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_review", "taking-back")
    for turn in range(rounds):
        made = pool.do("propose", "taking-back", f"Round {turn}")
        done, refused = _race(pool, "taking-back", made, [("approve", "ana"), ("withdraw", "bot")] * 4)
        assert len(done) == 1
        assert [one["refused"] for one in refused] == ["already-decided"] * 7
        found = _check_record(pool, "taking-back", made)
        assert found["state"] == {"approve": "approved", "withdraw": "withdrawn"}[done[0]]
        assert (found["served"] == made["result"]) == (done == ["approve"])


def test_an_approval_and_a_revision_are_never_both_accepted(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_review", "revising")
    for turn in range(rounds):
        made = pool.do("propose", "revising", f"Round {turn}")
        acts = [("approve", "ana"), ("revise", "bot", f"Revised in round {turn}")] * 4
        done, refused = _race(pool, "revising", made, acts)
        found = pool.do("reviewed", "revising", made["id"])
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
            pool.do("decide", "revising", "withdraw", "bot", made)


def test_the_same_change_from_several_proposers_is_one_proposal(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_review", "agreeing")
    for turn in range(rounds):
        said = f"Round {turn}"
        acts = [("propose", who, said) for who in ("bot", "ana", "ben", "cy")] * 2
        done, refused = _race(pool, "agreeing", {"id": 0, "result": "", "base": ""}, acts)
        assert (len(done), refused) == (8, [])
        made = pool.do("propose", "agreeing", said)
        found = pool.do("reviewed", "agreeing", made["id"])
        assert (found["waiting"], found["backers"]) == (1, 4)
        assert sorted(found["events"]) == ["proposal.joined"] * 3 + ["proposal.opened"]
        proposer = pool.do("decide", "agreeing", "reject", "ana", made)
        assert proposer == {"what": "reject"}
