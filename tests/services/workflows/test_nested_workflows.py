"""Workflows of nested skills: how large they may be together, and that a changed one is read again."""

import json
from collections.abc import Callable

import pytest

from registry.core.errors import InvalidRequest
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests import cpu
from tests.conftest import skill_bundle
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import finish

_BYTES = 50_000  # of one workflow
_MOST = 256 * 1024


def inner(value: str = "1", size: int = 0) -> str:
    """Return a workflow that gives a value. A comment makes it as large as it has to be."""
    step = f"{{id: s, uses: data.echo, input: {{value: {value}}}, output: {{value: outputs.value}}}}"
    text = f"id: inner\nversion: '1'\noutputs: {{value: {{type: integer}}}}\nsteps: [{step}]\n#"
    return text + "x" * (size - len(text))


def outer(count: int) -> str:
    steps = [
        {"id": f"s{number}", "uses": f"skill:inner-{number}", "config": {"depends_on": []}} for number in range(count)
    ]
    return json.dumps({"id": "outer", "version": "1", "steps": steps})


@pytest.fixture
def nest(workflow: Callable[..., str]) -> Callable[[int, int], str]:
    """Return a function that publishes nested skills, and returns the name of the one that calls them all."""

    def publish(count: int, last: int) -> str:
        for number in range(count):
            workflow(inner(size=last if number == count - 1 else _BYTES), f"inner-{number}")
        return workflow(outer(count), "outer")

    return publish


def test_nested_workflows_of_the_largest_size_run(
    project: Project, nest: Callable[[int, int], str], operator: Actor, worker: RunWorker
) -> None:
    name = nest(6, _MOST - 5 * _BYTES)
    run = cpu.within(2, lambda: runs.start(project, name, by=operator))
    finish(worker)
    run.refresh_from_db()
    assert run.state == "completed"


def test_nested_workflows_of_one_byte_more_start_nothing(
    project: Project, nest: Callable[[int, int], str], operator: Actor
) -> None:
    name = nest(6, _MOST - 5 * _BYTES + 1)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="more than 262,144 bytes together"):
        runs.start(project, name, by=operator)


def test_a_skill_that_is_nested_twice_counts_once(
    project: Project, workflow: Callable[..., str], operator: Actor
) -> None:
    workflow(inner(size=_BYTES), "inner-0")
    steps = [{"id": f"s{number}", "uses": "skill:inner-0"} for number in range(9)]
    runs.start(project, workflow(json.dumps({"id": "outer", "version": "1", "steps": steps}), "outer"), by=operator)
    assert Run.objects.count() == 1


def test_a_changed_workflow_is_read_again(
    project: Project, workflow: Callable[..., str], operator: Actor, worker: RunWorker
) -> None:
    name = workflow(inner("1"))
    first = runs.start(project, name, by=operator)
    bundle = skill_bundle(name, {"workflow.yaml": inner("2").encode()})
    skills.save(project, name, bundle, base=first.digest, by=operator)
    second = runs.start(project, name, by=operator)
    finish(worker)
    assert [Run.objects.get(pk=run.pk).outputs for run in (first, second)] == [{"value": 1}, {"value": 2}]
