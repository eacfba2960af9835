"""Rows of tasks for Celery workers. Decisions insert and delete them; Celery workers claim and finish them.

A row exists from the decision that starts a task until the decision that takes its outcome. It outlives the worker that
holds the run, so the next one waits for the same outcome.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.db import models, transaction
from django.db.models import Q, Value
from django.db.models.functions import Least

from registry.core.workflows import outcome_json
from registry.core.workflows.tasks import Outcome, Task
from registry.models import Run, RunTask
from registry.services.workflows import stored_values

_CUT_OFF = Outcome(cut_off=True)


def insert(run: Run, tasks: Sequence[Task]) -> dict[str, int]:
    """Insert the rows of tasks, and return their numbers by path. Call it in the transaction of the decision.

    To insert them again does no harm, for example if a commit was not confirmed.
    """
    rows = [
        RunTask(run=run, path=task.path, phase=task.phase.value, attempt=task.attempt, seconds=task.seconds)
        for task in tasks
    ]
    created = RunTask.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["run", "path"], update_fields=["seconds"], batch_size=200
    )
    return {row.path: row.pk for row in created}


def delete(numbers: Collection[int]) -> None:
    RunTask.objects.filter(pk__in=numbers).delete()


def clear(run: Run) -> None:
    """Delete all rows of a run that ends. A task that no worker has claimed is never performed."""
    RunTask.objects.filter(run=run).delete()


def outstanding(run: Run) -> dict[str, int]:
    """Return the numbers of a run's tasks by path, whatever their state."""
    return dict(RunTask.objects.filter(run=run).values_list("path", "pk"))


def withdraw(run: Run) -> tuple[dict[str, Outcome], list[int]]:
    """Take back the tasks of a run, for a worker that does not use Celery. Return outcomes by path, and row numbers.

    A task that was not claimed has not begun. One that is claimed has no outcome yet, and may have had its effect.
    """
    paths = list(outstanding(run))
    if not paths:
        return {}, []
    RunTask.objects.filter(run=run, state=RunTask.QUEUED).delete()
    rest = {row.path: row for row in RunTask.objects.filter(run=run)}
    outcomes = {path: _outcome(rest[path]) if path in rest else Outcome(not_made=True) for path in paths}
    return outcomes, [row.pk for row in rest.values()]


def arrived(numbers: Collection[int], *, now: datetime) -> dict[int, Outcome | None]:
    """Return the outcomes of tasks that are done, or whose worker is gone. None stands for a missed deadline."""
    over = Q(state=RunTask.DONE) | Q(state=RunTask.CLAIMED, leased_until__lte=now)
    found: dict[int, Outcome | None] = {}
    for row in RunTask.objects.filter(over, pk__in=numbers):
        late = row.state == RunTask.CLAIMED and row.deadline is not None and row.deadline <= now
        found[row.pk] = None if late else _outcome(row)
    return found


def unclaimed(numbers: Iterable[int]) -> set[int]:
    rows = RunTask.objects.filter(pk__in=numbers, state=RunTask.QUEUED)
    return set(rows.values_list("pk", flat=True))


def claim(number: int, *, seconds: float, lease: timedelta, now: datetime) -> bool:
    """Claim a task that nobody has claimed. Of several workers, one succeeds. `seconds` is the time until its deadline.

    The claim is leased, so that the end of a worker is noticed.
    """
    deadline = now + timedelta(seconds=seconds)
    row = RunTask.objects.filter(pk=number, state=RunTask.QUEUED)
    return bool(row.update(state=RunTask.CLAIMED, leased_until=min(now + lease, deadline), deadline=deadline))


def renew(numbers: Collection[int], *, lease: timedelta, now: datetime) -> None:
    """Renew the claims of a worker with one statement, none beyond its deadline."""
    until = Least("deadline", Value(now + lease, output_field=models.DateTimeField()))
    RunTask.objects.filter(pk__in=numbers, state=RunTask.CLAIMED).update(leased_until=until)


def finish(row: RunTask, outcome: Outcome, *, now: datetime) -> bool:
    """Store the outcome of a claimed task. Return whether somebody still waits for it."""
    packed = stored_values.pack(outcome_json.as_json(outcome), now=now)
    with transaction.atomic():
        claimed = RunTask.objects.filter(pk=row.pk, state=RunTask.CLAIMED)
        if not claimed.update(state=RunTask.DONE, outcome=packed, leased_until=None):
            return False
        stored_values.claim(row.run_id, [packed])
    return True


def _outcome(row: RunTask) -> Outcome:
    return outcome_json.read(stored_values.unpack(row.outcome)) if row.state == RunTask.DONE else _CUT_OFF
