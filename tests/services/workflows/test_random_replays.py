"""Random workflows give the same state again when they are replayed."""

import random
from collections.abc import Callable

import pytest

from registry.models import Project, Run, RunStep
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from registry.services.workflows.runs import Options
from tests.services.workflows.conftest import finish

MANY = 100
_HEAD = """id: random.plan
version: 1.0.0
steps:
  - {id: list, uses: data.echo, input: {value: [3, 1, 2]}, output: {value: vars.list}}
"""


def random_workflow(chance: random.Random, *, is_settled: bool) -> tuple[str, list[str]]:
    """Return a workflow of at most 15 steps that depend on each other at random, and the ids of its steps.

    Some steps fail, and some are skipped. Without `is_settled`, some give another result each time that they run.
    """
    steps: dict[str, str] = {}
    usable: list[str] = []  # steps with a number as their result
    for number in range(chance.randint(1, 14)):
        id_, needed = f"s{number}", [each for each in steps if chance.random() < 3 / (number + 1)]
        uses, given, output, config = _step(chance, id_, [each for each in needed if each in usable], is_settled)
        if "sum" in output and "condition" not in config:
            usable.append(id_)
        config = f"depends_on: [{', '.join(['list', *needed])}]{config}"
        steps[id_] = (
            f"  - {{id: {id_}, uses: {uses}, input: {{{given}}}, output: {{{output}}}, config: {{{config}}}}}\n"
        )
    return _HEAD + "".join(steps.values()), list(steps)


def _step(chance: random.Random, id_: str, usable: list[str], is_settled: bool) -> tuple[str, str, str, str]:
    items = ", ".join([str(chance.randint(1, 9)), *(f"vars.{each}" for each in usable)])
    match chance.choice(("sum", "sum", "sum", "fail", "skip", "each", "again", "log", "now")):
        case "fail":
            return "control.fail", "message: No.", "", ", retry: {max_attempts: 2, backoff_seconds: 0}"
        case "skip":
            return "data.statistics", f"items: [{items}]", f"sum: vars.{id_}", ", condition: 1 == 2"
        case "each":
            return "data.echo", "value: item", f"value: vars.all_{id_}", ", foreach: {items: vars.list, as: item}"
        case "again":
            again = ", while: {condition: true, max_iterations: 3}"
            return "data.echo", f"value: {id_}", f"value: vars.last_{id_}", again
        case "log" if not is_settled:
            return "data.echo", f"value: [{id_}]", "value: working.messages", ", merge_strategy: append"
        case "now" if not is_settled:
            return "date.now", "", f"now: vars.now_{id_}", ""
    return "data.statistics", f"items: [{items}]", f"sum: vars.{id_}", ""


@pytest.mark.slow
def test_a_replay_of_a_random_workflow_gives_the_same_state(
    project: Project, workflow: Callable[..., str], author: Actor
) -> None:
    worker, chance = RunWorker(poll_seconds=0), random.Random(8)

    def finished(run: Run) -> Run:
        finish(worker)
        run.refresh_from_db()
        return run

    for number in range(MANY):
        text, steps = random_workflow(chance, is_settled=number % 2 == 0)
        name = workflow(text, f"flow-{number}")
        first = finished(runs.start(project, name, options=Options(fail_fast=False), by=author))
        again = finished(runs.replay(project, first.pk, by=author))
        assert (again.state, again.state_digest) == (first.state, first.state_digest), text
        if number % 2 == 0:
            later = finished(runs.replay(project, first.pk, start_at=chance.choice(steps), by=author))
            assert (later.state, later.state_digest) == (first.state, first.state_digest), text
    found = RunStep.objects.filter(run__project=project).values_list("state", flat=True)
    assert set(found) == {"completed", "failed", "skipped"}
