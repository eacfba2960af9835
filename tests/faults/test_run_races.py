"""Eight processes answer and carry one run at the same moment."""

import pytest

from tests.faults.process_pool import ProcessPool

pytestmark = pytest.mark.races

MANY = 4  # questions of a run
_HEAD = "id: faults.questions\nversion: 1.0.0\ninputs: {name: {type: string, required: true}}\nsteps:\n"
FORM = '{question: "How many?", fields: {number: {type: integer, required: true}}}'
ASKING = _HEAD + "".join(
    f"  - {{id: s{number}, uses: human.input, input: {FORM}, config: {{depends_on: []}}}}\n" for number in range(MANY)
)


def test_no_answer_is_lost_while_workers_park_the_run(pool: ProcessPool, rounds: int) -> None:
    pool.do("make_flow", "parking", {"asking": ASKING})
    for turn in range(rounds):
        (run,) = pool.do("start_runs", "parking", "asking", [f"r{turn}"])
        assert pool.do("carry", "parking", run, ["waiting"]) == "waiting"
        asked = pool.do("open_questions", "parking")
        assert len(asked) == MANY
        answers = [
            ("answer_question", "parking", "answer", question, question["digest"], place)
            for place, question in enumerate(asked)
        ]
        workers = [("carry", "parking", run, ["completed"])] * (len(pool.children) - MANY)
        results = pool.all_at_once([*answers, *workers])
        assert results == [{}] * MANY + ["completed"] * len(workers)
    record = pool.do("record_of_runs", "parking")
    assert (record["unfinished"], record["open"], record["troubles"], record["broken"]) == (0, 0, 0, [])
    assert record["verbs"]["question.answered"] == MANY * rounds
