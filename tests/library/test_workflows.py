"""The workflows of the built-in skills, carried by a real worker."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import registry
from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs, stored_values
from registry.services.workflows.run_worker import RunWorker
from tests.services.isolation import blob_directory, empty_caches
from tests.services.workflows.conftest import finish

__all__ = ["blob_directory", "empty_caches"]

LIBRARY = Path(registry.__file__).parent / "library"
NAMES = sorted(path.parent.name for path in LIBRARY.glob("*/workflow.yaml"))

TABLE = "id,email\n1,ada@mail.example.com\n2,\n1,ada@mail.example.com\n"
REPORT = "\n".join([
    "date,category,description,amount,currency,rate,amount_eur,receipt,note",
    "2026-03-09,hotel,\"Hotel Bristol, 1 night\",1890.00,NOK,0.0861,162.73,R-01.pdf,",
    "2026-03-10,hotel,Hotel Bristol,2400.00,NOK,0.0861,206.64,R-02.pdf,",
    "2026-03-10,taxi,To the airport,24.50,EUR,1,24.50,,",
    "2026-03-11,mileage,\"214 km, Utrecht to Lille\",64.20,EUR,1,64.20,,",
])  # fmt: skip


@pytest.fixture(autouse=True)
def _built_in(author: Actor, empty_caches: None, settings: Any) -> None:
    settings.AGENT_SKILLS_DIRS = [LIBRARY]
    built_in.index().refresh()


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


def carried(run: Run, worker: RunWorker) -> Run:
    finish(worker)
    run.refresh_from_db()
    return run


def outputs(run: Run) -> dict[str, Any]:
    return dict(stored_values.unpack(run.outputs))


def test_at_least_two_built_in_skills_have_a_workflow() -> None:
    assert NAMES == ["csv-cleanup", "expense-report"]


def test_a_table_loses_its_duplicates_and_no_other_row(project: Project, author: Actor, worker: RunWorker) -> None:
    run = carried(runs.start(project, "csv-cleanup", inputs={"csv": TABLE}, by=author), worker)
    assert (run.state, run.reason) == ("completed", "")
    assert outputs(run) == {
        "csv": "id,email\r\n1,ada@mail.example.com\r\n2,\r\n",
        "rows_in": 3, "rows_out": 2, "duplicates": 1, "personal_data": True,
        "report": "Rows in: 3. Duplicates removed: 1. Rows out: 2. Personal data found: true.",
    }  # fmt: skip


def test_a_column_can_say_which_rows_are_equal(project: Project, author: Actor, worker: RunWorker) -> None:
    given = {"csv": "id;name\n1;Ada\n1;ada\n2;Bo\n", "separator": ";", "unique_by": "id"}
    run = carried(runs.start(project, "csv-cleanup", inputs=given, by=author), worker)
    assert outputs(run)["csv"] == "id,name\r\n1,Ada\r\n2,Bo\r\n"


@pytest.mark.parametrize(
    ("table", "message"),
    [("a,a\n1,2\n", "occurs twice"), ("a,b\n1\n", "Row 2"), ('a\n"', "not CSV")],
)
def test_a_table_that_cannot_be_read_fails_with_the_place(
    project: Project, author: Actor, worker: RunWorker, table: str, message: str
) -> None:
    run = carried(runs.start(project, "csv-cleanup", inputs={"csv": table}, by=author), worker)
    assert run.state == "failed"
    assert message in run.reason


def test_a_large_expense_waits_for_a_reviewer(
    project: Project, author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    given = {"report": REPORT, "traveller": "A. Lindqvist"}
    run = carried(runs.start(project, "expense-report", inputs=given, by=author), worker)
    assert run.state == "waiting"
    question = RunQuestion.objects.get(run=run)
    assert "206.64" in str(question.shown)
    assert "162.73" not in str(question.shown)
    questions.approve(project, run.pk, question.pk, digest=question.digest, by=reviewer)
    found = outputs(carried(run, worker))
    assert found["total_eur"] == 458.07
    assert [line["description"] for line in found["missing_receipts"]] == ["To the airport"]
    assert found["approved_by"] == reviewer.name
    assert found["note"].splitlines()[2:] == ["Receipts missing: 1", "Lines above the limit: 1"]


def test_an_expense_report_that_is_denied_ends(
    project: Project, author: Actor, reviewer: Actor, worker: RunWorker
) -> None:
    run = carried(runs.start(project, "expense-report", inputs={"report": REPORT, "traveller": "A"}, by=author), worker)
    question = RunQuestion.objects.get(run=run)
    questions.deny(project, run.pk, question.pk, digest=question.digest, comment="No note.", by=reviewer)
    assert carried(run, worker).state == "denied"


def test_a_small_expense_report_asks_nobody(project: Project, author: Actor, worker: RunWorker) -> None:
    given = {"report": REPORT, "traveller": "A. Lindqvist", "approval_above": 500}
    run = carried(runs.start(project, "expense-report", inputs=given, by=author), worker)
    assert run.state == "completed"
    assert not RunQuestion.objects.filter(run=run).exists()


def test_an_expense_report_without_traveller_is_not_started(project: Project, author: Actor) -> None:
    with pytest.raises(InvalidRequest, match="traveller"):
        runs.start(project, "expense-report", inputs={"report": REPORT}, by=author)
    assert not Run.objects.exists()
