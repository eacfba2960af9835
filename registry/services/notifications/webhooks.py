"""Webhooks of a project: create, change and remove them, list deliveries, and send failed ones again."""

import secrets
from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.core.notifications import events as event_types
from registry.models import Delivery, Endpoint, Project
from registry.models.outgoing import FAILED, PENDING
from registry.models.webhooks import DeliveryQuerySet
from registry.remote.outbound_http import host_of
from registry.services import audit
from registry.services.notifications import links, webhook_delivery, worker
from registry.services.permissions import Actor, require
from registry.services.resolve import outbound_http

MAX_WEBHOOKS = 20


def create(project: Project, address: str, events: Iterable[str], *, by: Actor) -> tuple[Endpoint, str]:
    """Return a new endpoint and its secret. The secret is shown only once."""
    require(by, roles.MANAGE, project)
    address, chosen = outbound_http.check(address), _events(events)
    with audit.change(project, "webhook.created", by=by) as change:
        if Endpoint.objects.filter(project=project).count() >= MAX_WEBHOOKS:
            raise Conflict(f"The project has {MAX_WEBHOOKS} webhooks, which is the limit. Remove one first.")
        endpoint = Endpoint.objects.create(
            project=project, address=address, events=chosen, salt=secrets.token_urlsafe(32), made_by_id=by.user_id
        )
        _describe(change, endpoint)
    return endpoint, webhook_delivery.secret_of(endpoint)


def update(project: Project, endpoint_id: int, *, address: str, events: Iterable[str], by: Actor) -> Endpoint:
    """Change the address or the events. Deliveries in the queue go to the new address."""
    require(by, roles.MANAGE, project)
    address, chosen = outbound_http.check(address), _events(events)
    with audit.change(project, "webhook.changed", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        if (endpoint.address, endpoint.events) == (address, chosen):
            change.cancel()
            return endpoint
        endpoint.address, endpoint.events = address, chosen
        endpoint.save(update_fields=["address", "events"])
        _describe(change, endpoint)
    return endpoint


def set_enabled(project: Project, endpoint_id: int, enabled: bool, *, by: Actor) -> Endpoint:
    """Enable or disable a webhook. While it is disabled, new events are not queued, and queued ones wait."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.enabled" if enabled else "webhook.disabled", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        if endpoint.enabled == enabled:
            change.cancel()
            return endpoint
        endpoint.enabled = enabled
        endpoint.save(update_fields=["enabled"])
        _describe(change, endpoint)
        if enabled:
            worker.wake()
    return endpoint


def renew_secret(project: Project, endpoint_id: int, *, by: Actor) -> str:
    """Replace the secret at once, and return the new one. It is shown only once."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.secret-renewed", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        endpoint.salt = secrets.token_urlsafe(32)
        endpoint.save(update_fields=["salt"])
        _describe(change, endpoint)
    return webhook_delivery.secret_of(endpoint)


def remove(project: Project, endpoint_id: int, *, by: Actor) -> None:
    """Delete the endpoint with its queue and its log."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.removed", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        _describe(change, endpoint)
        endpoint.delete()


def test(project: Project, endpoint_id: int, *, by: Actor) -> Delivery:
    """Queue a test event, to check that deliveries arrive and signatures match."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.tested", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        if not endpoint.enabled:
            raise Conflict("The webhook is off. Turn it on first. Nothing was sent.")
        _describe(change, endpoint)
        data: dict[str, object] = {
            "text": f"{by.name} sent a test event",
            "url": links.absolute(links.webhook_path(project.slug, endpoint.pk)),
            "project": {"slug": project.slug, "name": project.name},
            "actor": {"kind": by.kind, "name": by.name},
        }
        delivery = webhook_delivery.queue_one(endpoint, event_types.TEST, data)
        worker.wake()
    return delivery


def replay(project: Project, endpoint_id: int, delivery_id: int | None = None, *, by: Actor) -> int:
    """Send one failed delivery again, or all of them. Return how many. Each gets all its attempts again."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.replayed", by=by) as change:
        endpoint = find(project, endpoint_id, by=by)
        _describe(change, endpoint)
        failed = Delivery.objects.failed().filter(endpoint=endpoint)
        if delivery_id is not None:
            failed = failed.filter(pk=delivery_id)
        count = failed.update(state=PENDING, attempts=0, due_at=timezone.now(), leased_until=None, finished_at=None)
        if not count:
            raise Conflict("There is no failed delivery to send. It may have been sent again already.")
        change.data["deliveries"] = count
        worker.wake()
    return count


def list_endpoints(project: Project, *, by: Actor) -> QuerySet[Endpoint]:
    """Return the endpoints of a project with their counts of waiting and failed deliveries."""
    require(by, roles.MANAGE, project)
    return (
        Endpoint.objects.filter(project=project)
        .annotate(
            waiting=Count("deliveries", filter=Q(deliveries__state=PENDING)),
            failed=Count("deliveries", filter=Q(deliveries__state=FAILED)),
        )
        .order_by("pk")
    )


def find(project: Project, endpoint_id: int, *, by: Actor) -> Endpoint:
    require(by, roles.MANAGE, project)
    endpoint = Endpoint.objects.filter(project=project, pk=endpoint_id).select_related("project").first()
    if endpoint is None:
        raise NotFound("This webhook does not exist.")
    return endpoint


def delivery_log(endpoint: Endpoint, *, failed: bool) -> DeliveryQuerySet:
    """Return the deliveries to an endpoint, or only the failed ones, newest first."""
    every = Delivery.objects.filter(endpoint=endpoint)
    return (every.failed() if failed else every).for_list()


def _events(events: Iterable[str]) -> list[str]:
    chosen = set(events)
    if unknown := chosen - event_types.TYPES.keys():
        raise InvalidRequest(f"{sorted(unknown)[0][:60]!r} is not an event. Nothing was saved.", field="events")
    if not chosen:
        raise InvalidRequest("Choose at least one event. Nothing was saved.", field="events")
    return [event for event in event_types.TYPES if event in chosen]


def _describe(change: audit.Change, endpoint: Endpoint) -> None:
    """Record only the host, because the rest of an address is often a secret."""
    change.target = f"webhook {endpoint.pk}"
    change.data.update(host=host_of(endpoint.address), events=endpoint.events)
