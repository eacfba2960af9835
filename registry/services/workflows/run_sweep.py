"""The sweep of runs: deny late questions, wake any run that nothing else would wake, and delete old runs."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef

from registry.core.workflows.records import RunState
from registry.models import Run, RunQuestion
from registry.models.workflows import OPEN
from registry.services.workflows import held_runs, questions

_UNFINISHED = (RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value)
_SETTLED_FOR = timedelta(seconds=30)
_DELETED = 50  # runs in one sweep; each may have thousands of steps


def wake_overdue(*, now: datetime) -> None:
    questions.expire(now=now, by=held_runs.SYSTEM)
    wake_stuck(now=now)


def wake_stuck(*, now: datetime) -> int:
    """Wake the unfinished runs without a time, a worker or an open question. There should be none.

    To wake a run once too often does no harm.
    """
    asked = RunQuestion.objects.filter(run=OuterRef("pk"), state=OPEN)
    stuck = Run.objects.filter(
        ~Exists(asked), state__in=_UNFINISHED, wake_at=None, leased_until=None, created_at__lt=now - _SETTLED_FOR
    )
    return stuck.update(wake_at=now)


def delete_old(*, now: datetime) -> int:
    """Delete runs that ended before the time for which they are kept. The audit log keeps their events."""
    before = now - timedelta(days=settings.WORKFLOW_KEEP_DAYS)
    old = Run.objects.filter(finished_at__lt=before).order_by("finished_at").values_list("pk", flat=True)
    chosen = list(old[:_DELETED])
    Run.objects.filter(pk__in=chosen).delete()
    return len(chosen)
