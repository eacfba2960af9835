"""Decisions that are too long for one transaction."""

import json
from collections.abc import Callable

from registry.core.workflows.budget import STEPS_AT_ONCE
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import finish
from tests.services.workflows.together import Together


def start(count: int, project: Project, workflow: Callable[..., str], by: Actor) -> int:
    steps = [
        {"id": f"s{number}", "uses": "data.echo", "config": {"depends_on": [], "condition": "false"}}
        for number in range(count)
    ]
    return runs.start(project, workflow(json.dumps({"id": "flow", "version": "1", "steps": steps})), by=by).pk


def test_a_run_without_calls_goes_on_until_it_ends(
    project: Project, workflow: Callable[..., str], operator: Actor
) -> None:
    run = project.runs.get(pk=start(STEPS_AT_ONCE + 50, project, workflow, operator))
    worker = RunWorker(executor=Together(), monotonic=lambda: 0.0)
    worker.work()
    run.refresh_from_db()
    assert (run.state, run.steps.count()) == ("running", STEPS_AT_ONCE)
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.steps.filter(state="skipped").count()) == ("completed", STEPS_AT_ONCE + 50)


def test_other_runs_get_their_turn_meanwhile(project: Project, workflow: Callable[..., str], operator: Actor) -> None:
    long = project.runs.get(pk=start(STEPS_AT_ONCE + 50, project, workflow, operator))
    short = runs.start_call(project, "data.echo", inputs={"value": 1}, by=operator)
    worker = RunWorker(executor=Together(), monotonic=lambda: 0.0)
    worker.work()
    long.refresh_from_db()
    assert (long.state, long.steps.count()) == ("running", STEPS_AT_ONCE)
    assert short.steps.count() == 1


def test_another_worker_takes_a_run_up_between_two_decisions(
    project: Project, workflow: Callable[..., str], operator: Actor
) -> None:
    run = project.runs.get(pk=start(STEPS_AT_ONCE + 50, project, workflow, operator))
    lost = RunWorker(executor=Together(), monotonic=lambda: 0.0, name="lost")
    lost.work()
    project.runs.filter(pk=run.pk).update(leased_until=run.created_at)  # its worker was killed
    finish(RunWorker(executor=Together(), monotonic=lambda: 0.0, name="next"))
    run.refresh_from_db()
    assert (run.state, run.steps.count(), run.fence) == ("completed", STEPS_AT_ONCE + 50, 2)
