"""Eight processes change one project at the same moment: nothing is lost or stored twice."""

from itertools import chain
from typing import Any

import pytest

from tests.faults.process_pool import ProcessPool

pytestmark = pytest.mark.races

Outcome = dict[str, str]


def _sorted(outcomes: list[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Return the accepted and the refused changes."""
    return [one for one in outcomes if "version" in one], [one for one in outcomes if "refused" in one]


def _check(pool: ProcessPool, project: str, before: dict[str, Any], accepted: list[Outcome]) -> None:
    """Check that each accepted change made one version, one revision and one event, numbered without gaps."""
    after = pool.do("state", project)
    stored = after["versions"][len(before["versions"]) :]
    assert sorted(one["digest"] for one in stored) == sorted(one["digest"] for one in accepted)
    assert sorted(one["version"] for one in stored) == sorted(one["version"] for one in accepted)
    assert after["revision"] - before["revision"] == len(accepted)
    assert after["events"] - before["events"] == len(accepted)
    assert after["broken"] == []
    for name in {one["name"] for one in after["versions"]}:
        numbers = [one["version"] for one in after["versions"] if one["name"] == name]
        assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


def test_eight_processes_saving_one_skill_lose_no_save(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_project", "saving")
    for turn in range(rounds):
        before = pool.do("state", "saving")
        base = pool.do("digest", "saving", "greeting")
        tries = [("saving", "greeting", f"round {turn}, actor {number}", 3, base) for number in range(8)]
        accepted, refused = _sorted(list(chain(*pool.at_once("save", tries))))
        assert {one["refused"] for one in refused} <= {"stale", "precondition-required"}
        assert all(one["message"] for one in refused)
        assert accepted
        assert len(refused) >= 7, "All eight start from one version, so one of the first saves is accepted."
        _check(pool, "saving", before, accepted)
        _check_bases(accepted)


def _check_bases(accepted: list[Outcome]) -> None:
    """Check that each save is based on the version before it, so no author overwrote an unseen version."""
    in_order = sorted(accepted, key=lambda one: int(one["version"]))
    assert [one["base"] for one in in_order[1:]] == [one["digest"] for one in in_order[:-1]]


def test_eight_processes_importing_into_one_skill_are_all_accepted(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_project", "importing")
    for turn in range(rounds):
        before = pool.do("state", "importing")
        given = [("importing", "greeting", f"round {turn}, actor {number}") for number in range(8)]
        accepted, refused = _sorted(pool.at_once("import_skill", given))
        assert (len(accepted), refused) == (8, [])
        _check(pool, "importing", before, accepted)


def test_eight_processes_importing_the_same_bytes_store_them_once(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_project", "repeating")
    for turn in range(rounds):
        before = pool.do("state", "repeating")
        answers = pool.at_once("import_skill", [("repeating", "greeting", f"round {turn}")] * 8)
        assert len({(one["version"], one["digest"]) for one in answers}) == 1
        _check(pool, "repeating", before, answers[:1])


def test_one_of_eight_processes_that_create_the_same_skill_wins(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_project", "creating")
    for turn in range(rounds):
        before = pool.do("state", "creating")
        given = [("creating", f"skill-{turn}", f"actor {number}") for number in range(8)]
        accepted, refused = _sorted(pool.at_once("create", given))
        assert len(accepted) == 1
        assert [one["refused"] for one in refused] == ["already-exists"] * 7
        _check(pool, "creating", before, accepted)


def test_counts_of_eight_processes_add_up(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_project", "counting")
    for _ in range(8):
        pool.do("make_token", "counting", "read")
    names = [f"skill-{number}" for number in range(8)]
    for turn in range(1, rounds + 1):
        pool.at_once("count", [("counting", names, 5, number) for number in range(8)])
        counted = pool.do("counted", "counting")
        assert counted == {"loads": dict.fromkeys(names, turn * 8 * 5), "unseen": 0}
