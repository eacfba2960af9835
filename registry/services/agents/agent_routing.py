"""Routing for the sender of a request: only skills that they may see. The question may be logged."""

from django.utils import timezone

from registry.core.routing.request import RouteRequest
from registry.services.agents.tokens import Caller
from registry.services.routing import route_log, routing
from registry.services.routing.routing import Routed


def route(caller: Caller, request: RouteRequest) -> Routed:
    routed = routing.route(
        caller.project_id,
        caller.revision,
        request.query,
        allowed=caller.allowed,
        limit=request.limit,
        kind=request.kind,
        threshold=request.threshold,
    )
    route_log.record(caller.project_id, caller.revision, request.query, routed, caller=caller.actor, now=timezone.now())
    return routed
