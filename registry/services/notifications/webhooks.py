"""Webhooks of a project: owners say where events go, see what came of each, and send again what was given up."""

import secrets
from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.core.notifications import events as event_kinds
from registry.models import Delivery, Endpoint, Project
from registry.models.outgoing import FAILED, PENDING
from registry.models.webhooks import DeliveryQuerySet
from registry.remote.outbound_http import host_of
from registry.services import audit
from registry.services.notifications import links, webhook_delivery, worker
from registry.services.permissions import Actor, require
from registry.services.resolve import outbound_http

MOST = 20


def create(project: Project, address: str, events: Iterable[str], *, by: Actor) -> tuple[Endpoint, str]:
    """A new endpoint, and the secret that its signatures are checked with. The secret is shown this once."""
    require(by, roles.MANAGE, project)
    address, chosen = outbound_http.check(address), _events(events)
    with audit.change(project, "webhook.created", by=by) as change:
        if Endpoint.objects.filter(project=project).count() >= MOST:
            raise Conflict(f"The project has {MOST} webhooks. {MOST} are allowed. Nothing was stored.")
        made = Endpoint.objects.create(
            project=project, address=address, events=chosen, salt=secrets.token_urlsafe(32), made_by_id=by.user_id
        )
        _describe(change, made)
    return made, webhook_delivery.secret_of(made)


def update(project: Project, endpoint_id: int, *, address: str, events: Iterable[str], by: Actor) -> Endpoint:
    """Another address, or other events. What waits to be sent goes to the new address."""
    require(by, roles.MANAGE, project)
    address, chosen = outbound_http.check(address), _events(events)
    with audit.change(project, "webhook.changed", by=by) as change:
        found = find(project, endpoint_id, by=by)
        if (found.address, found.events) == (address, chosen):
            change.cancel()
            return found
        found.address, found.events = address, chosen
        found.save(update_fields=["address", "events"])
        _describe(change, found)
    return found


def set_enabled(project: Project, endpoint_id: int, enabled: bool, *, by: Actor) -> Endpoint:
    """Off: new events are not kept for it, and what waits stays until it is on again."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.enabled" if enabled else "webhook.disabled", by=by) as change:
        found = find(project, endpoint_id, by=by)
        if found.enabled == enabled:
            change.cancel()
            return found
        found.enabled = enabled
        found.save(update_fields=["enabled"])
        _describe(change, found)
        if enabled:
            worker.wake()
    return found


def renew_secret(project: Project, endpoint_id: int, *, by: Actor) -> str:
    """The new secret, shown this once. The old one signs nothing from now on."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.secret-renewed", by=by) as change:
        found = find(project, endpoint_id, by=by)
        found.salt = secrets.token_urlsafe(32)
        found.save(update_fields=["salt"])
        _describe(change, found)
    return webhook_delivery.secret_of(found)


def remove(project: Project, endpoint_id: int, *, by: Actor) -> None:
    """The endpoint goes, with what waits for it and its log."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.removed", by=by) as change:
        found = find(project, endpoint_id, by=by)
        _describe(change, found)
        found.delete()


def test(project: Project, endpoint_id: int, *, by: Actor) -> Delivery:
    """Something to see whether deliveries arrive and signatures are right."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.tested", by=by) as change:
        found = find(project, endpoint_id, by=by)
        if not found.enabled:
            raise Conflict("The webhook is off. Switch it on first. Nothing was sent.")
        _describe(change, found)
        said: dict[str, object] = {
            "text": f"{by.name} tests the webhook",
            "url": links.absolute(links.webhook_path(project.slug, found.pk)),
            "project": {"slug": project.slug, "name": project.name},
            "actor": {"kind": by.kind, "name": by.name},
        }
        made = webhook_delivery.queue_one(found, event_kinds.TEST, said)
        worker.wake()
    return made


def replay(project: Project, endpoint_id: int, delivery_id: int | None = None, *, by: Actor) -> int:
    """Sends one that was given up once more, or all of them. Each has all its tries again."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "webhook.replayed", by=by) as change:
        found = find(project, endpoint_id, by=by)
        _describe(change, found)
        dead = Delivery.objects.dead().filter(endpoint=found)
        if delivery_id is not None:
            dead = dead.filter(pk=delivery_id)
        count = dead.update(state=PENDING, attempts=0, due_at=timezone.now(), leased_until=None, finished_at=None)
        if not count:
            raise Conflict("There is nothing that was given up. It may have been sent again already.")
        change.data["deliveries"] = count
        worker.wake()
    return count


def listed(project: Project, *, by: Actor) -> QuerySet[Endpoint]:
    """The endpoints of a project with how many deliveries wait and how many were given up."""
    require(by, roles.MANAGE, project)
    return (
        Endpoint.objects.filter(project=project)
        .annotate(
            waiting=Count("deliveries", filter=Q(deliveries__state=PENDING)),
            dead=Count("deliveries", filter=Q(deliveries__state=FAILED)),
        )
        .order_by("pk")
    )


def find(project: Project, endpoint_id: int, *, by: Actor) -> Endpoint:
    require(by, roles.MANAGE, project)
    found = Endpoint.objects.filter(project=project, pk=endpoint_id).select_related("project").first()
    if found is None:
        raise NotFound("There is no such webhook.")
    return found


def delivery_log(endpoint: Endpoint, *, dead: bool) -> DeliveryQuerySet:
    """Newest first; `dead` for those that were given up."""
    every = Delivery.objects.filter(endpoint=endpoint)
    return (every.dead() if dead else every).for_list()


def _events(events: Iterable[str]) -> list[str]:
    chosen = set(events)
    if unknown := chosen - event_kinds.KINDS.keys():
        raise InvalidRequest(f"There is no event {sorted(unknown)[0][:60]!r}. Nothing was stored.")
    if not chosen:
        raise InvalidRequest("Choose one event or more. Nothing was stored.")
    return [event for event in event_kinds.KINDS if event in chosen]


def _describe(change: audit.Change, endpoint: Endpoint) -> None:
    """The host alone: the rest of an address is often all that protects it."""
    change.target = f"webhook {endpoint.pk}"
    change.data.update(host=host_of(endpoint.address), events=endpoint.events)
