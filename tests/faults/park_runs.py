"""Make the kept database of parked runs: `python -m tests.faults.park_runs`.

Later releases have to finish these runs. So make it again only as long as no release has the format of its runs; after
that, add another database beside it.
"""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).with_name("parked_runs.sql")
PROJECT = "parked"
RUNS = ("approval", "input", "doubt", "foreach", "retry", "cut-off")

_LATER = datetime(2100, 1, 1, tzinfo=UTC)  # the questions stay open
_CAPABILITY = """
id: {id}
version: 1.0.0
description: Has an effect.
inputs: {{value: {{type: string, required: true}}, message: {{type: string, default: Not yet.}}}}
outputs: {{value: {{type: string, required: true}}}}
properties: {{side_effects: true, idempotent: {idempotent}}}
safety: {{trust_level: standard, requires_confirmation: {asks}}}
binding: {{kind: builtin, function: {function}}}
"""
_WORKFLOW = """
id: parked.run
version: 1.0.0
inputs: {{name: {{type: string, required: true}}}}
outputs: {{text: {{type: string, required: true}}}}
steps:
  - {{id: before, uses: data.echo, input: {{value: inputs.name}}, output: {{value: vars.before}}}}
  - {{id: park, {park}}}
  - id: after
    uses: text.template
    input: {{template: "{{{{before}}}} {{{{parked}}}}", variables: {{before: vars.before, parked: vars.parked}}}}
    output: {{text: outputs.text}}
"""
_CALL = "uses: {uses}, input: {{value: vars.before}}, output: {{value: vars.parked}}"
_FORM = 'uses: human.input, input: {question: "How many?", fields: {number: {type: integer}}}'
_PARKS = {
    "approval": _CALL.format(uses="bank.approved"),
    "input": f"{_FORM}, output: {{values.number: vars.parked}}",
    "doubt": _CALL.format(uses="bank.once"),
    "foreach": f"{_FORM}, output: {{values: vars.parked}}, config: {{foreach: {{items: '[1, 2, 3]'}}}}",
    "retry": _CALL.format(uses="bank.flaky") + ", config: {retry: {max_attempts: 3, backoff_seconds: 5}}",
    "cut-off": _CALL.format(uses="bank.again"),
}


def write_capabilities(directory: Path, *, works: bool) -> None:
    """Write the definitions. If it works, `bank.flaky` succeeds."""
    for name, idempotent, asks in (("approved", 0, 1), ("once", 0, 0), ("again", 1, 0), ("flaky", 1, 0)):
        function = "control.fail" if name == "flaky" and not works else "data.echo"
        flags = {"idempotent": str(bool(idempotent)).lower(), "asks": str(bool(asks)).lower()}
        (directory / f"{name}.yaml").write_text(_CAPABILITY.format(id=f"bank.{name}", function=function, **flags))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        os.environ.update(
            SKILLSITE_DATA=name, CAPABILITIES_DIRS=name, DATABASE_URL="", DJANGO_SETTINGS_MODULE="skillsite.settings"
        )
        write_capabilities(directory, works=False)
        _park()
        with sqlite3.connect(directory / "skillsite.sqlite3") as database:
            FILE.write_text("\n".join(database.iterdump()) + "\n")


def _park() -> None:
    """Start the runs, and leave each of them in another state."""
    import django

    django.setup()

    from django.core.management import call_command
    from django.utils import timezone

    from registry.models import Run, RunQuestion
    from tests.faults import run_actions

    call_command("migrate", verbosity=0)
    run_actions.make_flow(PROJECT, {kind: _WORKFLOW.format(park=park) for kind, park in _PARKS.items()})
    for kind in RUNS:
        run_actions.start_runs(PROJECT, kind, [kind])
    for _ in range(2):  # the second worker finds the calls of the first one
        _work()
        Run.objects.exclude(worker="").update(leased_until=timezone.now())
    first, *_ = run_actions.open_questions(PROJECT, "foreach")
    run_actions.answer_question(PROJECT, "answer", first, first["digest"], 1, {"number": 1})
    RunQuestion.objects.update(expires_at=_LATER)


def _work() -> None:
    from registry.core.workflows.tasks import Outcome, Task
    from registry.services.workflows.executor import Key
    from registry.services.workflows.held_runs import HeldRun
    from registry.services.workflows.run_worker import RunWorker

    class CutOff:
        """An executor that performs tasks at once, except for two whose outcome never arrives."""

        stores_tasks = is_stuck = False
        most_tasks = 8

        def __init__(self) -> None:
            self.found: list[tuple[Key, Outcome | None]] = []

        def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
            if task.capability.id not in ("bank.once", "bank.again"):
                self.found.append(((held.run.pk, held.run.fence, task.path), perform()))

        def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
            found, self.found = self.found, []
            return found

    worker = RunWorker(executor=CutOff(), poll_seconds=0)
    while worker.work():
        pass


if __name__ == "__main__":
    main()
