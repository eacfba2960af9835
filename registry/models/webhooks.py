"""Webhooks of a project: where events are sent, and every delivery with what came of it."""

from django.db import models
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.outgoing import FAILED, Outgoing


class Endpoint(models.Model):
    """An address that is told about events. Its secret is not here: it follows from `salt` and the key of the site."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)
    salt = models.CharField(max_length=64)
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def dead(self) -> "DeliveryQuerySet":
        """Given up on, until somebody replays them."""
        return self.filter(state=FAILED)

    def for_list(self) -> "DeliveryQuerySet":
        return self.order_by("-pk")


class Delivery(Outgoing):
    """One event for one endpoint. The body is kept as it was, so that a later try sends the very same bytes."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    key = models.CharField(max_length=40)
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    # The newest answer.
    status = models.PositiveSmallIntegerField(null=True)
    milliseconds = models.PositiveIntegerField(null=True)
    excerpt = models.CharField(max_length=1000, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta(Outgoing.Meta):
        indexes = [*Outgoing.Meta.indexes, models.Index(fields=["endpoint", "-id"], name="deliveries_of_an_endpoint")]
