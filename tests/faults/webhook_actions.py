"""Actions on webhooks: queue deliveries, send them, and return their states."""

from collections.abc import Callable
from typing import Any

from django.conf import settings

from registry.core import roles
from registry.core.notifications import events
from registry.models import Delivery, Project
from registry.services import permissions
from registry.services.notifications import webhook_delivery, webhooks
from registry.services.people import accounts, members, projects

OPERATOR = permissions.operator()


def make_webhook(slug: str, address: str) -> None:
    project = projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR)
    user = accounts.create_user(f"{slug}-owner", by=OPERATOR)
    members.set_role(project, user, roles.OWNER, by=OPERATOR)
    settings.SKILLS_FETCH_ALLOW_HOSTS = ["127.0.0.1"]
    webhooks.create(project, address, list(events.TYPES), by=OPERATOR)


def queue_tests(slug: str, number: int) -> None:
    project = Project.objects.get(slug=slug)
    for _ in range(number):
        webhooks.test(project, project.webhooks.get().pk, by=OPERATOR)


def send_all() -> int:
    settings.SKILLS_FETCH_ALLOW_HOSTS = ["127.0.0.1"]
    return webhook_delivery.send_due()


def deliveries(slug: str) -> dict[str, Any]:
    rows = Delivery.objects.filter(endpoint__project__slug=slug)
    return {
        "states": sorted(set(rows.values_list("state", flat=True))),
        "attempts": sorted(set(rows.values_list("attempts", flat=True))),
        "keys": sorted(rows.values_list("key", flat=True)),
    }


ACTIONS: dict[str, Callable[..., Any]] = {
    action.__name__: action for action in (make_webhook, queue_tests, send_all, deliveries)
}
