"""Runs that an earlier release parked are finished by this one. `park_runs.py` made the database, and says when again.

The files of the skills are not kept. So a run can only go on with what is in its lock, as after any change of the code
that reads workflows.
"""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.faults.park_runs import FILE, PROJECT, RUNS, write_capabilities
from tests.faults.process_pool import ChildProcess, process_pool
from tests.faults.sites import new_site

pytestmark = [pytest.mark.races, pytest.mark.one_database]

ANSWERS = {
    "approval": ("approve", None),
    "input": ("answer", {"number": 7}),
    "doubt": ("answer", {"happened": True, "output": {"value": "has happened"}}),
    "foreach": ("answer", {"number": 8}),
}
RESULTS = {
    "approval": "approval approval",
    "input": "input 7",
    "doubt": "doubt has happened",
    "foreach": 'foreach [{"number": 1}, {"number": 8}, {"number": 8}]',
    "retry": "retry retry",
    "cut-off": "cut-off cut-off",
}


def answer_all(helper: ChildProcess) -> None:
    for skill, (verb, value) in ANSWERS.items():
        for question in helper.do("open_questions", PROJECT, skill):
            assert helper.do("answer_question", PROJECT, verb, question, question["digest"], 0, value) == {}


def test_runs_that_an_earlier_release_parked_are_finished(tmp_path: Path) -> None:
    with new_site(tmp_path / "site") as site:
        with sqlite3.connect(site.data / "skillsite.sqlite3") as database:
            database.executescript(FILE.read_text())
        database.close()
        site.manage("migrate", "--verbosity=0")
        write_capabilities(tmp_path, works=True)
        with process_pool(site, 1, CAPABILITIES_DIRS=str(tmp_path)) as pool:
            (helper,) = pool.children
            answer_all(helper)
            found = {}
            for number, skill in enumerate(RUNS, start=1):
                helper.do("carry", PROJECT, number, ["completed", "failed", "denied"])
                (run,) = (run for run in helper.do("runs_of", PROJECT) if run["id"] == number)
                found[skill] = (run["state"], (run["outputs"] or {}).get("text"), run["reason"])
                check_steps(run)
            assert found == {skill: ("completed", text, "") for skill, text in RESULTS.items()}
            assert helper.do("record_of_runs", PROJECT)["open"] == 0


def check_steps(run: dict[str, Any]) -> None:
    """Check that no step that had ended was carried out again."""
    attempts = {step["path"]: step["attempts"] for step in run["steps"]}
    assert attempts["before"] == attempts["after"] == 1
