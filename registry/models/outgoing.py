"""What is sent to the outside by the worker: a row with a state, a time it is due, and a lease of who sends it."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

PENDING, SENT, FAILED, DROPPED = "pending", "sent", "failed", "dropped"
STATES = (PENDING, SENT, FAILED, DROPPED)


def is_due(now: datetime) -> Q:
    """Its time has come, and nobody is sending it; whoever was has not come back in time."""
    return Q(state=PENDING, due_at__lte=now) & (Q(leased_until=None) | Q(leased_until__lte=now))


class Outgoing(models.Model):
    """`attempts` counts up as somebody takes the row, so it also tells whether a row is still one's own."""

    state = models.CharField(max_length=8, default=PENDING, choices=[(state, state) for state in STATES])
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    leased_until = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["due_at"], condition=Q(state=PENDING), name="%(class)s_waiting")]
        constraints = [models.CheckConstraint(condition=Q(state__in=STATES), name="%(class)s_state_is_known")]
