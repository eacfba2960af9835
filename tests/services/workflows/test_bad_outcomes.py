"""Outcomes of an executor that no run can take."""

from collections.abc import Mapping

from registry.core.workflows.tasks import Outcome
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.executor import Key
from registry.services.workflows.held_runs import HeldRun
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.together import Together


class Broken(Together):
    """Gives the call of one run an output that is not JSON."""

    bad = 0

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        found = super().results(held, timeout=timeout)
        return [(key, Outcome(output=object()) if key[0] == self.bad else outcome) for key, outcome in found]


def test_an_outcome_that_cannot_be_stored_postpones_its_run_and_no_other(project: Project, operator: Actor) -> None:
    executor = Broken()
    bad, good = (runs.start_call(project, "data.echo", inputs={"value": 1}, by=operator) for _ in range(2))
    executor.bad = bad.pk
    worker = RunWorker(executor=executor, monotonic=lambda: 0.0)
    while worker.work() or worker.held:
        pass
    for run in (bad, good):
        run.refresh_from_db()
    assert (good.state, good.outputs) == ("completed", {"value": 1})
    assert (bad.state, bad.troubles, bad.worker) == ("running", 1, "")
    assert bad.wake_at is not None and bad.wake_at > bad.created_at
