"""Who comes in: a caller with a token in a header, with one in the address that may only read, or with none."""

from django.http import HttpRequest
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, Unauthenticated
from registry.services import client_address, throttle
from registry.services.agents import tokens
from registry.services.agents.tokens import Caller
from registry.services.catalog import usage


def by_header(request: HttpRequest) -> Caller:
    scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("Send a token: Authorization: Bearer sks_…")
    return _enter(tokens.authenticate(secret.strip(), now=timezone.now()))


def by_path(secret: str) -> Caller:
    return _enter(tokens.authenticate_in_path(secret, now=timezone.now()))


def by_nothing(request: HttpRequest) -> None:
    """Anybody may read what is public, as often as one address may."""
    throttle.take_public(client_address.address(request.META))


def _enter(caller: Caller) -> Caller:
    usage.saw(caller.token_id, caller.actor.agent_id, now=timezone.now())
    throttle.take(caller.token_id, writing=False)
    if not caller.actor.may(roles.READ):
        raise Forbidden("This token does not have the scope “read”.", scope=roles.READ)
    return caller


def count_load(project_id: int, skill: str, version: str, *, caller: str) -> None:
    usage.count(project_id, skill, version, caller=caller, now=timezone.now())
