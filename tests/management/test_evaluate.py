"""`evaluate`: output, exit code, and what it stores."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from registry.core.routing.golden import Case
from registry.models import Evaluation, Project
from registry.services.permissions import Actor
from registry.services.routing import evaluations, golden_set
from tests.conftest import on_disk, skill_bundle
from tests.management.conftest import command_output
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind

GOOD = [Case(f"{word} invoices", ("invoices",)) for word in ("print", "send", "find", "check", "write", "sum", "pay")]
GOOD.append(Case("zebra"))


@pytest.fixture
def billing(project: Project, author: Actor) -> Project:
    create_skill(project, skill_bundle("invoices", description="Invoices. Use when an order is billed."), by=author)
    return project


def evaluate(*arguments: str) -> list[str]:
    return command_output("evaluate", *arguments).splitlines()


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return the output of a run that exits with 1."""
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", *arguments)
    assert ended.value.code == 1
    return capsys.readouterr().out.splitlines()


def test_a_run_that_passes_is_printed_and_stored(billing: Project, author: Actor) -> None:
    golden_set.add(billing, GOOD, by=author)
    output = evaluate("--project", "demo")
    assert output[0] == "dispatch eval: P@1=1.000 MRR=1.000 (n=8)"
    assert output[-1] == "PASS"
    stored = Evaluation.objects.get()
    assert (stored.by, stored.passed) == ("command line", True)


def test_misses_and_stale_cases_are_listed(billing: Project, author: Actor, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [*GOOD, Case("a\x1b[31mb\nzebra 'x'", ("invoices",)), Case("old", ("gone",)), Case("invoices of a friend")]
    golden_set.add(billing, cases, by=author)
    strict = failing(capsys, "--project", "demo", "--threshold", "1")
    assert strict[0].endswith("(n=10)")
    assert "  MISS: \"a\\x1b[31mb\\nzebra 'x'\" expected invoices got <none>" in strict
    assert "  STALE: 'old' There is no skill gone." in strict
    loose = failing(capsys, "--project", "demo", "--threshold", "0")
    assert "  MISS: 'invoices of a friend' expected <none> got invoices" in loose
    assert loose[-1].startswith("FAIL: The rate of false triggers is ")
    assert not Evaluation.objects.exists()


def test_no_cases_give_no_verdict_and_exit_1(billing: Project, capsys: pytest.CaptureFixture[str]) -> None:
    output = failing(capsys, "--project", "demo")
    assert output[0] == "dispatch eval: P@1=none MRR=none (n=0)"
    assert output[-1] == "No verdict: there are no test questions to measure."


def test_fewer_cases_than_the_limit_fail(billing: Project, author: Actor, capsys: pytest.CaptureFixture[str]) -> None:
    golden_set.add(billing, GOOD[:7], by=author)
    assert (
        failing(capsys, "--project", "demo")[-1] == "FAIL: 7 test questions could be judged, and at least 8 are needed."
    )


def test_a_regression_exits_with_1(billing: Project, author: Actor, capsys: pytest.CaptureFixture[str]) -> None:
    golden_set.add(billing, [*GOOD, Case("what the bill says", ("invoices",))], by=author)
    first = evaluations.run(billing, by=author)
    rows = [{**row, "verdict": "correct_trigger", "rank": 1} if row["expected"] else row for row in first.outcomes]
    Evaluation.objects.update(outcomes=rows, passed=True)
    output = failing(capsys, "--project", "demo", "--threshold", "1")
    assert "Worse than the baseline" in output[-1]


def test_a_file_is_measured_without_storing_anything(billing: Project, tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text("\n".join(json.dumps({"query": case.query, "expected": list(case.expected)}) for case in GOOD))
    with nothing_left_behind():
        report = json.loads("\n".join(evaluate("--project", "demo", "--golden", str(file), "--json")))
    assert (report["cases"], report["p_at_1"], report["verdict"]) == (8, 1.0, "pass")


def test_a_file_about_one_skill_needs_its_name(billing: Project, tmp_path: Path) -> None:
    file = tmp_path / "trigger.json"
    file.write_text(json.dumps([{"query": case.query, "should_trigger": bool(case.expected)} for case in GOOD]))
    with nothing_left_behind():
        assert evaluate("--project", "demo", "--golden", str(file), "--skill", "invoices")[-1] == "PASS"
        with pytest.raises(CommandError, match="does not say which skill"):
            evaluate("--project", "demo", "--golden", str(file))


def test_the_library_needs_no_project(db: None, library: Path, tmp_path: Path) -> None:
    on_disk(library, "invoices", description="Invoices. Use when an order is billed.")
    file = tmp_path / "golden.tsv"
    file.write_text("".join(f"{case.query}\t{','.join(case.expected) or '-'}\n" for case in GOOD))
    with nothing_left_behind():
        assert evaluate("--library", "--golden", str(file))[-1] == "PASS"
        with pytest.raises(SystemExit):
            evaluate("--library", "--golden", str(file), "--least-cases", "9")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of the arguments"),
        (("--project", "demo", "--library"), "not allowed with"),
        (("--project", "nope"), "There is no project 'nope'"),
        (("--project", "demo", "--threshold", "1.5"), "from 0 to 1"),
        (("--project", "demo", "--least-mrr", "0.1"), "its own limits"),
        (("--project", "demo", "--threshold", "nan"), "from 0 to 1"),
        (("--library", "--golden", "no-such-file.json"), "No such file"),
        (("--project", "demo", "--skill", "invoices"), "Add --golden FILE"),
        (("--library", "--least-p-at-1", "nan"), "--least-p-at-1 is a number from 0 to 1; not nan"),
        (("--library", "--least-mrr", "7"), "--least-mrr is a number from 0 to 1; not 7.0"),
        (("--library", "--most-false-triggers", "inf"), "--most-false-triggers is a number from 0 to 1"),
        (("--library", "--least-cases", "0"), "--least-cases is at least 1; not 0"),
    ],
)
def test_wrong_arguments_are_refused(project: Project, arguments: tuple[str, ...], message: str) -> None:
    with nothing_left_behind(), pytest.raises(CommandError, match=message):
        evaluate(*arguments)


def test_a_damaged_file_is_refused(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "golden.json"
    file.write_text('[{"query": "a"}]')
    with nothing_left_behind(), pytest.raises(CommandError, match="Entry 1: The answer is missing"):
        evaluate("--project", "demo", "--golden", str(file))
