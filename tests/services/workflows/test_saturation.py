"""Calls of one run at the same time: how many there may be, and when more could be."""

import logging
from collections.abc import Callable

import pytest
from django.conf import settings

from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from registry.services.workflows.runs import MOST_WORKERS, Options
from tests.services.workflows.conftest import finish
from tests.services.workflows.together import Together

SEVEN = """
id: seven
version: 1.0.0
steps:
  - id: each
    uses: data.echo
    input: {value: item}
    config: {foreach: {items: "[1, 2, 3, 4, 5, 6, 7]"}}
"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def carry(project: Project, workflow: Callable[..., str], operator: Actor) -> Callable[..., Together]:
    """Return a function that carries a run of seven calls, and returns the executor."""
    name = workflow(SEVEN)

    def carry(most_tasks: int, options: Options | None = None, clock: Clock | None = None) -> Together:
        executor = Together(most_tasks)
        worker = RunWorker(executor=executor, monotonic=clock or Clock())
        runs.start(project, name, options=options, by=operator)
        finish(worker)
        if clock is not None:
            clock.now += 60
            worker.work()
        return executor

    return carry


@pytest.mark.parametrize(
    ("most_tasks", "max_workers", "most"), [(8, 3, 3), (2, 5, 2), (500, 7, 7), (500, MOST_WORKERS, 7)]
)
def test_a_run_makes_no_more_calls_at_once_than_its_option_and_the_executor_allow(
    carry: Callable[..., Together], most_tasks: int, max_workers: int, most: int
) -> None:
    batches = carry(most_tasks, Options(max_workers=max_workers)).batches
    assert max(batches) == most
    assert sum(batches) == 7


def test_the_setting_is_the_default(carry: Callable[..., Together]) -> None:
    assert max(carry(500).batches) == min(7, settings.WORKFLOW_MAX_WORKERS)


@pytest.mark.parametrize("max_workers", [0, -1, MOST_WORKERS + 1])
def test_another_number_of_workers_is_refused(carry: Callable[..., Together], max_workers: int) -> None:
    with pytest.raises(InvalidRequest, match="max_workers is a number from 1 to 500"):
        carry(8, Options(max_workers=max_workers))


@pytest.mark.parametrize(("most_tasks", "decisions"), [(1, 6), (3, 2)])
def test_a_worker_logs_how_often_work_waited_for_other_calls(
    carry: Callable[..., Together], caplog: pytest.LogCaptureFixture, most_tasks: int, decisions: int
) -> None:
    with caplog.at_level(logging.INFO, logger="registry"):
        carry(most_tasks, clock=Clock())
    (line,) = [record.getMessage() for record in caplog.records if "max_workers" in record.getMessage()]
    assert f"{decisions} decisions left work waiting" in line


def test_a_worker_logs_nothing_if_no_work_waited(
    carry: Callable[..., Together], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="registry"):
        carry(8, clock=Clock())
    assert not [record for record in caplog.records if "max_workers" in record.getMessage()]
