"""The work of a Celery worker: claim a task, perform it, and store its outcome.

Everything comes from rows: the input, the verdicts and the approvals of the step, and the trust that the run has now.
The policy is asked again with exactly these arguments.
"""

import logging
import threading
import time
from datetime import timedelta
from functools import lru_cache

from django.conf import settings
from django.db import Error, close_old_connections, connection

from registry.core.workflows.failures import StepFailed
from registry.core.workflows.policy import CallRequest
from registry.core.workflows.records import Phase, StepRecord
from registry.core.workflows.tasks import Outcome, Task
from registry.models import RunTask
from registry.services.capabilities import capability_registry
from registry.services.workflows import held_runs, locks, policies, run_tasks, step_rows
from registry.services.workflows.database_clock import DatabaseClock
from registry.services.workflows.dispatch import Dispatcher, run_key
from registry.services.workflows.executor import GRACE_SECONDS

log = logging.getLogger(__name__)
_TRIES = 6  # to store an outcome
_PAUSE_SECONDS = 0.1


class CallWorker:
    """Performs tasks, in any number of threads of one process."""

    def __init__(self) -> None:
        self._lease = timedelta(seconds=settings.WORKFLOW_LEASE_SECONDS)
        self._clock = DatabaseClock()
        self._claims: set[int] = set()
        self._renewer: threading.Thread | None = None
        self._lock = threading.Lock()

    def perform(self, number: int) -> None:
        """Perform the task of a row, unless another worker has it or nobody waits for it any longer."""
        close_old_connections()
        row = RunTask.objects.filter(pk=number, state=RunTask.QUEUED).select_related("run__agent").first()
        record = step_rows.read_one(row.run, row.path) if row is not None else None
        if row is None or record is None or row.run.is_finished:
            return
        try:
            task = _task(row, record)
        except StepFailed as failed:
            self._refuse(row, Outcome(failure=failed.failure))
            return
        self._claims.add(number)
        try:
            self._claimed(row, task)
        finally:
            self._claims.discard(number)

    def _claimed(self, row: RunTask, task: Task) -> None:
        self._keep_renewing()
        began = time.monotonic()
        if not run_tasks.claim(row.pk, seconds=_seconds(task), lease=self._lease, now=self._clock.now()):
            return
        self._store(row, self._perform(row, task, began))

    def _perform(self, row: RunTask, task: Task, began: float) -> Outcome:
        if time.monotonic() - began > self._lease.total_seconds() * 2 / 3:
            return Outcome(not_made=True)
        capabilities = capability_registry.of(row.run.project_id)
        return Dispatcher(run_key(row.run_id), policies.current(), capabilities.get).perform(task)

    def _refuse(self, row: RunTask, outcome: Outcome) -> None:
        if run_tasks.claim(row.pk, seconds=GRACE_SECONDS, lease=self._lease, now=self._clock.now()):
            self._store(row, outcome)

    def _store(self, row: RunTask, outcome: Outcome) -> None:
        """Store an outcome, and try again if the database cannot be reached. A lost outcome may mean a question."""
        for attempt in range(1, _TRIES + 1):
            try:
                if not run_tasks.finish(row, outcome, now=self._clock.now()):
                    log.warning("The outcome of %s in run %s came too late.", row.path, row.run_id)
                return
            except Error:
                if attempt == _TRIES:
                    raise
                close_old_connections()
                time.sleep(_PAUSE_SECONDS * 2**attempt)

    def _keep_renewing(self) -> None:
        """Start the thread that renews the claims, in the process that performs tasks."""
        with self._lock:
            if self._renewer is None or not self._renewer.is_alive():
                self._renewer = threading.Thread(target=self._renew, name="claims", daemon=True)
                self._renewer.start()

    def _renew(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._lease.total_seconds() / 3):
            claims = self._claims.copy()
            if not claims:
                continue
            try:
                close_old_connections()
                run_tasks.renew(claims, lease=self._lease, now=self._clock.now())
            except Error:
                log.exception("The claims of tasks could not be renewed. The next try is soon.")
                connection.close()


def _task(row: RunTask, record: StepRecord) -> Task:
    run = row.run
    capability = capability_registry.of(run.project_id).get(record.uses)
    request = CallRequest(
        locks.library(run.lock_id).lock, record.path, capability, record.input, held_runs.trust_now(run),
        record.verdicts, frozenset(record.approvals),
    )  # fmt: skip
    return Task(Phase(row.phase), request, row.attempt, row.seconds, record.held)


def _seconds(task: Task) -> float:
    return task.seconds * task.calls + GRACE_SECONDS


@lru_cache(maxsize=1)
def _worker() -> CallWorker:
    return CallWorker()


def perform(number: int) -> None:
    """Perform a task in this process."""
    _worker().perform(number)
