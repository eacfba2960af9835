"""The webhook event `audit.head`."""

import json
from datetime import UTC, datetime, timedelta

from registry.core.notifications import events
from registry.models import Chain, Delivery, Project
from registry.services import housekeeping
from registry.services.notifications import webhooks
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.receivers import Receiver

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_subscribed_webhooks_get_each_head_once(
    project: Project, receiver: Receiver, owner: Actor, operator: Actor
) -> None:
    webhooks.create(project, receiver.url("/heads"), [events.AUDIT_HEAD], by=owner)
    webhooks.create(project, receiver.url("/others"), [events.PUBLISHED], by=owner)
    for _ in range(2):
        housekeeping.sweep(now=NOW)
    body = json.loads(Delivery.objects.get().body)
    chain = Chain.objects.get(project=project)
    assert body["type"] == "audit.head"
    assert body["data"]["head"] == {
        "chain": chain.name, "length": chain.length, "hash": chain.head, "seal": chain.seal,
        "at": "2026-01-02T00:00:00+00:00",
    }  # fmt: skip
    create_skill(project, skill_bundle(), by=operator)
    housekeeping.sweep(now=NOW + timedelta(minutes=1))
    assert Delivery.objects.filter(event="audit.head").count() == 2
