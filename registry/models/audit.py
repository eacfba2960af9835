"""The append-only audit log: one hash chain for each project, and one for the site."""

from typing import NoReturn

from django.db import models

from registry.models.accounts import Project, User
from registry.models.agents import Agent


class Chain(models.Model):
    """The head of one chain. It is locked while an event is added, so that the chain never forks.

    `announced` is the length that was last sent to webhooks.
    """

    project = models.OneToOneField(Project, on_delete=models.PROTECT, null=True, related_name="audit_chain")
    name = models.CharField(max_length=80, unique=True)
    length = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64)
    seal = models.CharField(max_length=64, default="")
    announced = models.PositiveBigIntegerField(default=0)


class EventQuerySet(models.QuerySet["Event"]):
    def update(self, **kwargs: object) -> NoReturn:
        raise TypeError("Audit events are never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("Audit events are never deleted.")


class Event(models.Model):
    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="events")
    sequence = models.PositiveBigIntegerField()
    at = models.DateTimeField()
    verb = models.CharField(max_length=64)
    target = models.CharField(max_length=200, blank=True)
    actor_kind = models.CharField(max_length=16)
    actor_name = models.CharField(max_length=150)
    user = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, null=True, related_name="+")
    address = models.CharField(max_length=45, blank=True)
    before = models.CharField(max_length=71, blank=True)
    after = models.CharField(max_length=71, blank=True)
    data = models.JSONField(default=dict)
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)
    seal = models.CharField(max_length=64, default="")

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "sequence"], name="audit_chain_has_no_fork")]
