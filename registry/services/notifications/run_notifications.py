"""Notifications about runs. A person has at most one unread notification of a kind about each run.

A run can ask a thousand questions one after the other, and that must not become a thousand emails.
"""

from collections.abc import Sequence

from django.utils import timezone

from registry.core.notifications.events import RUN_WAITING, Event, RunRef
from registry.models import Notification
from registry.services.notifications import recipients
from registry.services.notifications.recipients import Recipient


def notify(event: Event, run: RunRef, project_id: int, concerned: Sequence[Recipient], *, who: str) -> None:
    """Notify people and webhooks, in the transaction of the change.

    An unread notification of the same kind gets the new text, without another email.
    """
    unread = Notification.objects.filter(run=run.id, event=event.type, read_at=None)
    known = {row.user_id: row for row in unread.filter(user__in=[one.member.user_id for one in concerned])}
    for recipient in concerned:
        if row := known.get(recipient.member.user_id):
            row.text, row.waits = recipient.event.text, recipient.waits
    Notification.objects.bulk_update(known.values(), ["text", "waits"])
    recipients.send(project_id, [event], [one for one in concerned if one.member.user_id not in known], who=who)


def close_waiting(run_id: int) -> None:
    """Mark what waited for people as read, because the run has no open question any more."""
    Notification.objects.filter(run=run_id, event=RUN_WAITING, read_at=None).update(read_at=timezone.now())
