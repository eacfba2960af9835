"""The webhook event `audit.head`: receivers keep the heads of a project's audit chain outside the site."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import F

from registry.core.notifications import events
from registry.models import Chain, Endpoint
from registry.services.audit_log.heads import head_of
from registry.services.notifications import links, webhook_delivery, worker


def announce(*, now: datetime) -> int:
    """Queue a delivery for each subscribed webhook of a project whose chain changed. Return how many."""
    enabled = Endpoint.objects.filter(enabled=True, project__archived_at=None).select_related("project")
    subscribed: dict[int, list[Endpoint]] = {}
    for endpoint in enabled.order_by("pk"):
        if events.AUDIT_HEAD in endpoint.events:
            subscribed.setdefault(endpoint.project_id, []).append(endpoint)
    if not subscribed:
        return 0
    chains = Chain.objects.filter(project__in=subscribed).exclude(announced=F("length")).order_by("pk")
    return sum(_announce(chain, subscribed[chain.project_id or 0], now=now) for chain in chains)


def _announce(chain: Chain, endpoints: list[Endpoint], *, now: datetime) -> int:
    with transaction.atomic():
        # Another worker may do the same. The update tells which of the two sends it.
        mine = Chain.objects.filter(pk=chain.pk, announced=chain.announced).update(announced=chain.length)
        if not mine:
            return 0
        for endpoint in endpoints:
            project = endpoint.project
            data: dict[str, object] = {
                "text": f"The audit log of {project.name} has {chain.length} events",
                "url": links.absolute(links.audit_path(project.slug)),
                "project": {"slug": project.slug, "name": project.name},
                "actor": {"kind": "system", "name": "skillsite"},
                "head": asdict(head_of(chain, now=now)),
            }
            webhook_delivery.queue_one(endpoint, events.AUDIT_HEAD, data)
        worker.wake()
    return len(endpoints)
