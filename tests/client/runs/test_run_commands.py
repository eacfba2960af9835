"""The commands for runs: output, inputs, exit codes, and an interrupted watch."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from registry.client import exit_codes
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.workflows import questions
from tests.client.between import Between, Reply, times
from tests.client.runs import carrying
from tests.client.runs.carrying import Command, Meanwhile
from tests.conftest import on_disk


def test_a_run_prints_its_steps_and_then_its_outputs(command: Command, meanwhile: Meanwhile, site: Between) -> None:
    meanwhile(carrying.work)
    code, out, err = command("run", "greet", "--input", "name=Ada=x", "--input", "times:=3")
    number = Run.objects.get().pk
    assert (code, json.loads(out)) == (exit_codes.DONE, {"text": "Hello Ada=x 3"})
    assert err.splitlines() == [
        f"Run {number} of greet 1 is queued: {site.url}/projects/demo/runs/{number}/",
        "  completed  render",
        "  completed  copy",
        f"Run {number} is complete.",
    ]


def test_json_has_the_whole_run(command: Command, meanwhile: Meanwhile) -> None:
    meanwhile(carrying.work)
    code, out, _ = command("run", "greet", "--input", "name=Ada", "--json")
    run = json.loads(out)
    assert (code, run["state"], run["outputs"]) == (0, "completed", {"text": "Hello Ada 1"})
    assert [step["path"] for step in run["steps"]] == ["render", "copy"]
    assert run["page"].endswith(f"/projects/demo/runs/{run['id']}/")


def test_inputs_are_read_from_a_file_or_from_stdin(
    command: Command, meanwhile: Meanwhile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "inputs.json"
    file.write_text('{"name": "Ada", "times": 2}')
    meanwhile(carrying.work)
    assert "Hello Ada 5" in command("run", "greet", "--inputs", str(file), "--input", "times:=5")[1]
    meanwhile(carrying.work)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"name": "Eve"}')))
    assert "Hello Eve 1" in command("run", "greet", "--inputs", "-")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--input", "name"], exit_codes.USAGE, "NAME=TEXT"),
        (["--input", "=x"], exit_codes.USAGE, "NAME=TEXT"),
        (["--input", ":=3"], exit_codes.USAGE, "NAME=TEXT"),
        (["--input", "times:=x"], exit_codes.USAGE, "not JSON"),
        (["--input", "times:=NaN"], exit_codes.USAGE, "not JSON"),
        (["--inputs", "absent.json"], exit_codes.LOCAL, "Could not read absent.json"),
        (["--inputs", "list.json"], exit_codes.LOCAL, "must be a JSON object"),
        (["--inputs", "text.json"], exit_codes.LOCAL, "is not JSON"),
        (["--inputs", "large.json"], exit_codes.LOCAL, "1,048,576 bytes"),
        (["--inputs", "."], exit_codes.LOCAL, "Could not read"),
        ([], exit_codes.REFUSED, "name"),
        (["--input", "times=3", "--input", "name=Ada"], exit_codes.REFUSED, "must be of type integer"),
        (["--input", "name=Ada", "--version", "7"], exit_codes.REFUSED, "7"),
        (["--input", "name=Ada", "--max-workers", "99999"], exit_codes.REFUSED, "max_workers"),
    ],
)
def test_a_wrong_input_starts_nothing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[1]")
    Path("text.json").write_text("name: Ada")
    Path("large.json").write_bytes(b" " * 1_100_000)
    found, out, err = command("run", "greet", "--wait", "0", *arguments)
    assert (found, out) == (code, "") and words in err
    assert Run.objects.count() == 0


@pytest.mark.parametrize("seconds", ["-1", "x", "nan", "1e9", "inf"])
def test_a_wrong_wait_is_a_usage_error(command: Command, seconds: str) -> None:
    with pytest.raises(SystemExit) as exited:
        command("run", "greet", f"--wait={seconds}")
    assert exited.value.code == exit_codes.USAGE
    assert Run.objects.count() == 0


def test_a_failed_run_has_its_own_exit_code(command: Command, meanwhile: Meanwhile) -> None:
    meanwhile(carrying.work)
    code, out, err = command("run", "fails")
    assert (code, out) == (exit_codes.RUN_FAILED, "") and "No stock." in err.splitlines()[-1]


def test_a_run_says_where_to_approve_and_goes_on(
    command: Command, meanwhile: Meanwhile, project: Project, reviewer: Actor, site: Between
) -> None:
    meanwhile(carrying.work, lambda: carrying.answer(project, reviewer), carrying.work)
    code, out, err = command("run", "asks")
    page = f"{site.url}/projects/demo/runs/{Run.objects.get().pk}/"
    assert (code, json.loads(out)) == (0, {"by": "reviewer"})
    assert "A person has to approve this: Send it? (until 20" in err
    assert err.count(f"  Open {page}") == 1


def test_a_denied_run_has_its_own_exit_code(
    command: Command, meanwhile: Meanwhile, project: Project, reviewer: Actor
) -> None:
    meanwhile(carrying.work, lambda: carrying.answer(project, reviewer, approve=False), carrying.work)
    assert command("run", "asks")[0] == exit_codes.RUN_DENIED


def test_a_run_without_an_answer_has_its_own_exit_code(command: Command, meanwhile: Meanwhile, operator: Actor) -> None:
    def expire() -> None:
        from django.utils import timezone

        Run.objects.get().questions.update(expires_at=timezone.now())
        questions.expire(now=timezone.now(), by=operator)

    meanwhile(carrying.work, expire, carrying.work)
    assert command("run", "asks")[0] == exit_codes.RUN_EXPIRED


def test_a_wait_that_is_over_says_what_the_run_does(command: Command, meanwhile: Meanwhile) -> None:
    assert command("run", "asks", "--wait", "0.01")[0] == exit_codes.RUN_UNFINISHED
    carrying.work()
    code, out, err = command("show-run", str(Run.objects.get().pk), "--wait", "0")
    assert (code, out) == (exit_codes.RUN_WAITING, "") and "is waiting" in err


def test_a_run_is_only_started(command: Command) -> None:
    code, out, err = command("run", "greet", "--input", "name=Ada", "--wait", "0")
    assert (code, out) == (exit_codes.DONE, "") and "is queued" in err
    assert json.loads(command("run", "greet", "--input", "name=Ada", "--wait", "0", "--json")[1])["state"] == "queued"


def test_a_lost_site_is_noted_once(command: Command, meanwhile: Meanwhile, site: Between) -> None:
    started = command("run", "greet", "--input", "name=Ada", "--wait", "0", "--json")[1]
    meanwhile(carrying.work)
    site.fault = times(3, Reply(503))
    code, _, err = command("show-run", str(json.loads(started)["id"]), "--watch")
    assert code == 0 and err.count("Trying again.") == 1


def test_an_interrupted_watch_says_how_to_watch_again(command: Command, meanwhile: Meanwhile) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    meanwhile(interrupt)
    code, _, err = command("run", "greet", "--input", "name=Ada")
    number = Run.objects.get().pk
    assert code == exit_codes.INTERRUPTED
    assert f"skillsite-client show-run {number} --watch" in err
    assert Run.objects.get().cancelled_by == ""
    carrying.work()
    assert command("show-run", str(number), "--watch")[0] == 0


def test_runs_are_listed(command: Command) -> None:
    assert command("runs") == (0, "", "No runs found.\n")
    for _ in range(2):
        command("run", "greet", "--input", "name=Ada", "--wait", "0")
    code, out, err = command("runs", "--limit", "1", "--mine", "--state", "queued", "--skill", "greet")
    assert code == 0 and "queued" in out and "greet 1" in out and "more runs" in err
    assert len(json.loads(command("runs", "--json")[1])) == 2
    assert command("runs", "--state", "done")[0] == exit_codes.REFUSED


def test_a_run_is_shown(command: Command) -> None:
    command("run", "greet", "--input", "name=Ada", "--wait", "0")
    carrying.work()
    code, out, err = command("show-run", str(Run.objects.get().pk))
    assert (code, json.loads(out)) == (0, {"text": "Hello Ada 1"}) and "started by bot" in err


def test_a_run_is_cancelled(command: Command) -> None:
    command("run", "greet", "--input", "name=Ada", "--wait", "0")
    number = str(Run.objects.get().pk)
    assert command("cancel-run", number)[0] == 0
    carrying.work()
    assert command("show-run", number)[0] == exit_codes.RUN_CANCELLED
    code, _, err = command("cancel-run", number)
    assert code == exit_codes.REFUSED and "already cancelled" in err


@pytest.mark.parametrize("name", ["show-run", "cancel-run"])
@pytest.mark.parametrize(("number", "code"), [("x", exit_codes.USAGE), ("99999", exit_codes.REFUSED)])
def test_an_unknown_run_is_refused(command: Command, name: str, number: str, code: int) -> None:
    assert command(name, number)[0] == code


@pytest.mark.processes
def test_the_command_runs_as_a_process(command: Command, environment: None) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "registry.client", "run", "greet", "--input", "name=Ada", "--wait", "0", "--json"],
        capture_output=True,
    )
    assert (done.returncode, json.loads(done.stdout)["skill"]) == (0, "greet")


def test_a_skill_with_a_workflow_says_how_to_start_it(command: Command, library: Path) -> None:
    on_disk(library, "plain")
    assert command("read", "greet")[2].endswith("Start it with: skillsite-client run greet\n")
    assert "workflow" not in command("read", "plain")[2]
