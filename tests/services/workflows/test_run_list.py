"""The list of runs."""

from collections.abc import Callable

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from registry.services.workflows import run_list, runs
from registry.services.workflows.run_list import Filter
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import CHAIN, finish


@pytest.fixture
def several(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker
) -> dict[str, int]:
    """Runs by name: one that is finished, one of somebody else, and one of another skill."""
    flow, other = workflow(CHAIN), workflow(CHAIN, "other")
    done = runs.start(project, flow, inputs={"name": "Ada"}, by=author)
    finish(worker)
    theirs = runs.start(project, flow, inputs={"name": "Ada"}, by=reviewer)
    return {
        "done": done.pk,
        "theirs": theirs.pk,
        "other": runs.start(project, other, inputs={"name": "B"}, by=author).pk,
    }


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        (Filter(), "other theirs done"),
        (Filter(state="completed"), "done"),
        (Filter(state=run_list.FINISHED), "done"),
        (Filter(state=run_list.UNFINISHED), "other theirs"),
        (Filter(skill=" Other "), "other"),
        (Filter(by="reviewer"), "theirs"),
        (Filter(is_mine=True), "other done"),
        (Filter(state="failed"), ""),
    ],
)
def test_runs_are_filtered(
    project: Project, several: dict[str, int], author: Actor, criteria: Filter, expected: str
) -> None:
    found = run_list.list_runs(project, criteria, by=author)
    assert [run.pk for run in found] == [several[name] for name in expected.split()]


def test_runs_of_another_project_are_not_listed(
    other_project: Project, several: dict[str, int], operator: Actor
) -> None:
    assert not run_list.list_runs(other_project, Filter(), by=operator)
