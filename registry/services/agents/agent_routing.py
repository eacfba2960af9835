"""Routing for the sender of a request: only skills that they may see."""

from registry.core.routing.request import RouteRequest
from registry.services.agents.tokens import Caller
from registry.services.routing import routing
from registry.services.routing.routing import Routed


def route(caller: Caller, request: RouteRequest) -> Routed:
    return routing.route(
        caller.project_id,
        caller.revision,
        request.query,
        allowed=caller.allowed,
        limit=request.limit,
        kind=request.kind,
        threshold=request.threshold,
    )
