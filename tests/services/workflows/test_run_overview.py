"""The steps of a run's own workflow, and the paths below one."""

from collections.abc import Callable

import pytest

from registry.core.errors import NotFound
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.workflows import run_overview, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import CHAIN, finish

MIXED = """
id: mixed
version: 1.0.0
inputs: {items: {type: array, required: true}}
steps:
  - {id: plain, uses: data.echo, input: {value: 1}}
  - {id: each, uses: data.echo, input: {value: item}, config: {foreach: {items: inputs.items}}}
  - {id: Each, uses: data.echo, input: {value: item}, config: {foreach: {items: inputs.items}}}
  - {id: nested, uses: "skill:chain", input: {name: item}, config: {foreach: {items: inputs.items}}}
  - id: both
    uses: data.echo
    input: {value: 1}
    config: {scatter: {capabilities: [data.echo, json.render], merge: collect}}
"""
Workflow = Callable[..., str]


@pytest.fixture
def mixed(project: Project, workflow: Workflow, author: Actor, worker: RunWorker) -> Run:
    workflow(CHAIN, "chain")
    run = runs.start(project, workflow(MIXED, "mixed"), inputs={"items": ["a", "b", "c"]}, by=author)
    finish(worker)
    return run


def below(run: Run, path: str) -> list[str]:
    return list(run_overview.below(run, run_overview.find_step(run, path)).values_list("path", flat=True))


def test_the_steps_of_the_workflow_are_counted_with_what_is_below_them(mixed: Run) -> None:
    found = run_overview.overview(mixed)
    assert list(found.rows) == ["plain", "each", "Each", "nested", "both"]
    assert "plain" not in found.below
    assert found.below["each"].calls == found.below["Each"].calls == {"completed": 3}
    assert (found.below["nested"].calls, found.below["nested"].steps) == ({"completed": 3}, {"completed": 6})


def test_the_paths_directly_below_one_are_listed(mixed: Run) -> None:
    assert below(mixed, "plain") == []
    assert below(mixed, "each") == ["each[0]", "each[1]", "each[2]"]
    assert below(mixed, "Each") == ["Each[0]", "Each[1]", "Each[2]"]
    assert below(mixed, "nested") == ["nested[0]", "nested[1]", "nested[2]"]
    assert below(mixed, "nested[1]") == ["nested[1]/render", "nested[1]/copy"]
    assert below(mixed, "nested[1]/copy") == []
    assert below(mixed, "both") == ["both@data.echo", "both@json.render"]


@pytest.mark.parametrize("path", ["", "nowhere", "each[3]", "e%", "x" * 2_000])
def test_an_unknown_path_is_not_found(mixed: Run, path: str) -> None:
    with pytest.raises(NotFound):
        run_overview.find_step(mixed, path)
