"""Webhook endpoints of a project, and the deliveries to them."""

from django.db import models
from django.utils import timezone

from registry.models.accounts import Project, User
from registry.models.outgoing import FAILED, Outgoing


class Endpoint(models.Model):
    """An address that receives events. Its secret is derived from `salt` and SECRET_KEY, and not stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)
    salt = models.CharField(max_length=64)
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def failed(self) -> "DeliveryQuerySet":
        """Filter for deliveries that are not retried unless an owner sends them again."""
        return self.filter(state=FAILED)

    def for_list(self) -> "DeliveryQuerySet":
        return self.order_by("-pk")


class Delivery(Outgoing):
    """One event for one endpoint. `body` is stored, so that every attempt sends the same bytes."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    key = models.CharField(max_length=40)
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    # The response to the last attempt.
    status = models.PositiveSmallIntegerField(null=True)
    milliseconds = models.PositiveIntegerField(null=True)
    excerpt = models.CharField(max_length=1000, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta(Outgoing.Meta):
        indexes = [*Outgoing.Meta.indexes, models.Index(fields=["endpoint", "-id"], name="deliveries_of_an_endpoint")]
