"""When the outside is told: at once by a task, and by the sweep where the task was lost.

A task is only a wake-up. What has to be sent, and whether it was, is in the rows.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from registry.models import Delivery, Letter, NewAddress, Notice
from registry.models.outgoing import PENDING, is_due
from registry.services.notifications import email, webhook_delivery

_KEEP_DELIVERIES = timedelta(days=30)
_KEEP_ADDRESSES = timedelta(days=7)
_KEEP_NOTICES = timedelta(days=180)
_KEEP_TASKS = timedelta(days=1)


@task()
def send() -> None:
    """Whatever is due, on whichever worker wakes up first."""
    email.send_due()
    webhook_delivery.send_due()


def wake() -> None:
    """Inside a change: once it is committed, a worker is told. Where that fails, the next sweep does it."""
    transaction.on_commit(_enqueue, robust=True)


def _enqueue() -> None:
    send.enqueue()


def wake_overdue(*, now: datetime) -> None:
    overdue = Delivery.objects.filter(is_due(now), endpoint__enabled=True, endpoint__project__archived_at=None)
    letters_due = (letter.objects.filter(is_due(now)).exists() for letter in (Letter, NewAddress))
    if any(letters_due) or overdue.exists():
        send.enqueue()


def clean(*, now: datetime) -> dict[str, int]:
    """Throws away what nobody looks at any more; counts it."""
    old = Delivery.objects.filter(created_at__lt=now - _KEEP_DELIVERIES).exclude(state=PENDING, endpoint__enabled=True)
    return {
        "deliveries": old.delete()[0],
        "addresses": NewAddress.objects.filter(asked_at__lt=now - _KEEP_ADDRESSES).delete()[0],
        "notices": Notice.objects.filter(created_at__lt=now - _KEEP_NOTICES).delete()[0],
        "finished tasks": DBTaskResult.objects.finished().filter(finished_at__lt=now - _KEEP_TASKS).delete()[0],
    }
