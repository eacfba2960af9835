"""Leases of runs: take them, renew them, and give the runs back."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from registry.core.workflows.failures import Code
from registry.core.workflows.records import RunState
from registry.models import Run
from registry.services import audit
from registry.services.workflows import questions, run_events, run_tasks
from registry.services.workflows.held_runs import SYSTEM, HeldRun

MOST_TROUBLES = 8
_PAUSE_SECONDS = 2
_TROUBLE = "The site could not carry on with this run. The reason is in the log of the worker."


def take(worker: str, *, most: int, lease: timedelta, now: datetime) -> list[Run]:
    """Lease runs that are due. Several workers may call it at the same time."""
    due = Run.objects.filter(is_due(now)).order_by("wake_at").values_list("pk", flat=True)
    if due.first() is None:  # in the order of the index; without an order, PostgreSQL may read the whole table
        return []
    with transaction.atomic():
        rows = due.select_for_update(skip_locked=True) if connection.features.has_select_for_update_skip_locked else due
        chosen = list(rows[:most])
        Run.objects.filter(is_due(now), pk__in=chosen).update(
            fence=F("fence") + 1, changes=F("changes") + 1, worker=worker, leased_until=now + lease,
            state=RunState.RUNNING.value, started_at=Coalesce("started_at", Value(now)),
        )  # fmt: skip
    mine = Run.objects.filter(pk__in=chosen, worker=worker, leased_until=now + lease)
    return list(mine.select_related("project", "agent").order_by("wake_at"))


def is_due(now: datetime) -> Q:
    return Q(wake_at__lte=now) & (Q(leased_until=None) | Q(leased_until__lte=now))


def renew(worker: str, held: Mapping[int, HeldRun], *, lease: timedelta, now: datetime) -> list[int]:
    """Renew the leases of runs with one statement. Return the runs that this worker still holds.

    Other leases of this worker are not renewed, because it knows nothing of those runs.
    """
    if not held:
        return []
    rows = Run.objects.filter(worker=worker, pk__in=held)
    rows.update(leased_until=now + lease)
    return [run_id for run_id, fence in rows.values_list("pk", "fence") if held[run_id].run.fence == fence]


def release(worker: str) -> None:
    """Give all runs of a worker back, so that another continues them at once."""
    Run.objects.filter(worker=worker).update(leased_until=None, worker="")


def postpone(run: Run, *, now: datetime) -> None:
    """Let go of a run that this worker could not carry, and try again later. After several times, the run fails."""
    mine = Run.objects.filter(pk=run.pk, fence=run.fence)
    if run.troubles < MOST_TROUBLES:
        pause = timedelta(seconds=_PAUSE_SECONDS * 2**run.troubles)
        mine.update(troubles=F("troubles") + 1, wake_at=now + pause, leased_until=None, worker="")
        return
    verb = run_events.ENDINGS[RunState.FAILED]
    with audit.change(run.project, verb, by=SYSTEM, target=run.skill, revises=False) as change:
        ended = mine.update(
            state=RunState.FAILED.value, code=Code.CALL.value, reason=_TROUBLE, finished_at=now, wake_at=None,
            leased_until=None, worker="", changes=F("changes") + 1,
        )  # fmt: skip
        if not ended:
            change.cancel()
            return
        change.data["run"] = run.pk
        questions.withdraw(run)
        run_tasks.clear(run)
        run_events.announce(verb, run, by=SYSTEM, text=_TROUBLE)
