"""Webhooks of a project: create, change and disable them."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings

from registry.core.errors import Conflict, InvalidRequest
from registry.core.notifications import events
from registry.models import Delivery, Endpoint, Event, Project
from registry.services.notifications import webhooks
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.services.footprint import nothing_left_behind
from tests.services.notifications.deliveries import ALL, send
from tests.services.receivers import Receiver


@pytest.mark.parametrize(
    ("address", "events", "said"),
    [
        ("http://1.1.1.1/", ALL, "Use https"),
        ("https://127.0.0.1/", ALL, "private network"),
        ("https://[::ffff:192.168.0.1]/", ALL, "private network"),
        ("https://169.254.169.254/latest/meta-data", ALL, "private network"),
        ("https://user:pass@1.1.1.1/", ALL, "username or password"),
        ("not an address", ALL, "whole address"),
        ("https://1.1.1.1/", [], "at least one event"),
        ("https://1.1.1.1/", ["proposal.invented"], "is not an event"),
        ("https://1.1.1.1/", [events.TEST], "is not an event"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_refused_and_nothing_is_stored(
    project: Project, owner: Actor, address: str, events: list[str], said: str
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=said) as refused:
        webhooks.create(project, address, events, by=owner)
    assert "Nothing was s" in refused.value.message  # stored or saved


def test_a_change_is_held_to_the_same_rules(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        webhooks.update(project, endpoint.pk, address="https://10.0.0.1/", events=ALL, by=owner)
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        webhooks.update(project, endpoint.pk, address=endpoint.address, events=["x"], by=owner)


def test_number_of_webhooks_is_limited(project: Project, owner: Actor) -> None:
    for number in range(webhooks.MAX_WEBHOOKS):
        webhooks.create(project, f"https://1.1.1.1/{number}", ALL, by=owner)
    with nothing_left_behind(), pytest.raises(Conflict, match="20 webhooks, which is the limit"):
        webhooks.create(project, "https://1.1.1.1/more", ALL, by=owner)


def test_deliveries_of_a_disabled_webhook_wait_until_it_is_enabled(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, author: Actor
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    webhooks.set_enabled(project, endpoint.pk, False, by=owner)
    skills.create(project, skill_bundle(), by=author)
    assert (send(), Delivery.objects.count()) == (0, 1)
    with nothing_left_behind(), pytest.raises(Conflict, match="off"):
        webhooks.test(project, endpoint.pk, by=owner)
    webhooks.set_enabled(project, endpoint.pk, True, by=owner)
    assert (send(), len(receiver.got)) == (1, 1)


def test_an_archived_project_sends_nothing(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    projects.archive(project, by=owner)
    assert send() == 0


def test_the_audit_log_has_the_host_and_not_the_rest_of_the_address(
    project: Project, receiver: Receiver, owner: Actor
) -> None:
    webhooks.create(project, receiver.url("/services/T000/secret"), ALL, by=owner)
    event = Event.objects.filter(verb="webhook.created").get()
    assert event.data["host"] == receiver.host
    assert "secret" not in json.dumps(event.data) + event.target


def test_the_page_about_webhooks_names_every_event() -> None:
    page = (Path(settings.BASE_DIR) / "docs/webhooks.md").read_text()
    named = set(re.findall(r"^\| `([a-z.-]+)` \|", page, re.MULTILINE))
    assert named == {*events.TYPES, events.TEST}
