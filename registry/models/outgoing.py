"""Base model of what the worker sends: emails and webhook deliveries."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.leases import Leased, is_free

PENDING, SENT, FAILED, DROPPED = "pending", "sent", "failed", "dropped"
STATES = (PENDING, SENT, FAILED, DROPPED)


def is_due(now: datetime) -> Q:
    """Match rows that are waiting to be sent and that no worker holds."""
    return Q(state=PENDING, due_at__lte=now) & is_free(now)


class Outgoing(Leased):
    """One message to send. `error` is why the last attempt failed."""

    state = models.CharField(max_length=8, default=PENDING, choices=[(state, state) for state in STATES])
    due_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["due_at"], condition=Q(state=PENDING), name="%(class)s_waiting")]
        constraints = [models.CheckConstraint(condition=Q(state__in=STATES), name="%(class)s_state_is_known")]
