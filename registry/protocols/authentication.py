"""Authentication for the protocols: a token in the header, a token in the URL, or none for public projects."""

from django.http import HttpRequest

from registry.core import roles
from registry.services import client_address, throttle
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller


def by_header(request: HttpRequest) -> Caller:
    return _admit(bearer.identify(request.META.get("HTTP_AUTHORIZATION", "")))


def by_path(secret: str) -> Caller:
    return _admit(bearer.identify_in_path(secret))


def anonymous(request: HttpRequest) -> None:
    """Count one request without a token against the limit of its network."""
    throttle.take_public(client_address.address(request.META))


def _admit(caller: Caller) -> Caller:
    throttle.take(caller.token_id, writing=False)
    bearer.require_scope(caller, roles.READ)
    return caller
