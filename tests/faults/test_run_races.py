"""Eight processes answer and carry one run at the same moment."""

from pathlib import Path

import pytest

from tests.faults.process_pool import ProcessPool

pytestmark = pytest.mark.races

MANY = 4  # questions of a run
_HEAD = "id: faults.questions\nversion: 1.0.0\ninputs: {name: {type: string, required: true}}\nsteps:\n"
FORM = '{question: "How many?", fields: {number: {type: integer, required: true}}}'
ASKING = _HEAD + "".join(
    f"  - {{id: s{number}, uses: human.input, input: {FORM}, config: {{depends_on: []}}}}\n" for number in range(MANY)
)

PAYING = _HEAD + "  - {id: pay, uses: bank.pay, input: {value: inputs.name}}\n"
BANK = """
id: bank.pay
version: {version}
description: Pays.
inputs: {{value: {{type: string, required: true}}}}
outputs: {{value: {{type: string, required: true}}}}
properties: {{side_effects: true, idempotent: false}}
safety: {{trust_level: standard, requires_confirmation: true}}
binding: {{kind: builtin, function: data.echo}}
"""


def test_one_of_many_approvals_wins_and_an_old_digest_never(pool: ProcessPool, rounds: int, tmp_path: Path) -> None:
    def define(version: str) -> None:
        pool.do("define", str(tmp_path), "bank", BANK.format(version=version))

    define("1.0.0")
    pool.do("make_flow", "approving", {"paying": PAYING})
    for turn in range(rounds):
        (run,) = pool.do("start_runs", "approving", "paying", [f"r{turn}"])
        pool.do("carry", "approving", run, ["waiting"])
        (old,) = pool.do("open_questions", "approving")
        assert pool.do("answer_question", "approving", "approve", old, old["digest"], 0) == {}
        define(f"1.{turn + 1}.0")
        pool.do("carry", "approving", run, ["waiting"])  # it was approved for the definition before
        (asked,) = pool.do("open_questions", "approving")
        assert asked["digest"] != old["digest"]
        acts = [("approving", "approve", asked, asked["digest"], place) for place in range(7)]
        *results, stale = pool.at_once("answer_question", [*acts, ("approving", "approve", asked, old["digest"], 7)])
        assert results.count({}) == 1
        assert results.count({"refused": "already-decided"}) == 6
        assert stale in ({"refused": "already-decided"}, {"refused": "conflict"})
        assert pool.do("carry", "approving", run, ["completed", "failed"]) == "completed"
    record = pool.do("record_of_runs", "approving")
    assert (record["unfinished"], record["open"], record["broken"]) == (0, 0, [])
    assert record["approvals"] == record["verbs"]["question.approved"] == 2 * rounds


def test_no_answer_is_lost_while_workers_park_the_run(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_flow", "parking", {"asking": ASKING})
    for turn in range(rounds):
        (run,) = pool.do("start_runs", "parking", "asking", [f"r{turn}"])
        assert pool.do("carry", "parking", run, ["waiting"]) == "waiting"
        asked = pool.do("open_questions", "parking")
        assert len(asked) == MANY
        answers = [
            ("answer_question", "parking", "answer", question, question["digest"], place, {"number": place})
            for place, question in enumerate(asked)
        ]
        workers = [("carry", "parking", run, ["completed"])] * (len(pool.children) - MANY)
        results = pool.all_at_once([*answers, *workers])
        assert results == [{}] * MANY + ["completed"] * len(workers)
    record = pool.do("record_of_runs", "parking")
    assert (record["unfinished"], record["open"], record["troubles"], record["broken"]) == (0, 0, 0, [])
    assert record["verbs"]["question.answered"] == MANY * rounds
