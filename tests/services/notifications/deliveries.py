"""Sending of deliveries that are due."""

from datetime import timedelta

from django.utils import timezone

from registry.core.notifications import events
from registry.services.notifications import webhook_delivery

ALL = [event for event in events.TYPES if event != events.AUDIT_HEAD]


def send(later: timedelta = timedelta()) -> int:
    now = timezone.now() + later
    return webhook_delivery.send_due(clock=lambda: now)
