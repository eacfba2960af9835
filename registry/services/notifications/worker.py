"""Background sending of emails and webhooks: at once by a task, and by the sweep if the task was lost.

A task only wakes a worker. The rows say what has to be sent.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from registry.models import Delivery, EmailConfirmation, Notification, NotificationEmail
from registry.models.outgoing import PENDING, is_due
from registry.services.notifications import email, webhook_delivery

_KEEP_DELIVERIES = timedelta(days=30)
_KEEP_CONFIRMATIONS = timedelta(days=7)
_KEEP_NOTIFICATIONS = timedelta(days=180)
_KEEP_TASKS = timedelta(days=1)


@task()
def send() -> None:
    email.send_due()
    webhook_delivery.send_due()


def wake() -> None:
    """Enqueue the task when the transaction commits. If enqueuing fails, the next sweep does it."""
    transaction.on_commit(_enqueue, robust=True)


def _enqueue() -> None:
    send.enqueue()


def wake_overdue(*, now: datetime) -> None:
    deliveries = Delivery.objects.filter(is_due(now), endpoint__enabled=True, endpoint__project__archived_at=None)
    emails_due = (model.objects.filter(is_due(now)).exists() for model in (NotificationEmail, EmailConfirmation))
    if any(emails_due) or deliveries.exists():
        send.enqueue()


def clean(*, now: datetime) -> dict[str, int]:
    """Delete old rows, and return how many of each kind."""
    old = Delivery.objects.filter(created_at__lt=now - _KEEP_DELIVERIES).exclude(state=PENDING, endpoint__enabled=True)
    return {
        "deliveries": old.delete()[0],
        "addresses": EmailConfirmation.objects.filter(requested_at__lt=now - _KEEP_CONFIRMATIONS).delete()[0],
        "notifications": Notification.objects.filter(created_at__lt=now - _KEEP_NOTIFICATIONS).delete()[0],
        "finished tasks": DBTaskResult.objects.finished().filter(finished_at__lt=now - _KEEP_TASKS).delete()[0],
    }
