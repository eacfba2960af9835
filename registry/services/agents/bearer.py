"""Bearer tokens of requests: who calls, when they were last seen, and whether a scope allows it."""

from django.utils import timezone

from registry.core.errors import Forbidden, NotFound, Unauthenticated
from registry.services.agents import tokens
from registry.services.agents.tokens import Caller
from registry.services.catalog import usage

CHALLENGE = 'Bearer realm="skillsite"'


def identify(authorization: str, *, project: str | None = None) -> Caller:
    """Return the caller for the value of an Authorization header.

    A token of another project than `project` gets 404, so that project names do not leak.
    """
    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("Send a token: Authorization: Bearer sks_…")
    caller = tokens.authenticate(secret.strip(), now=timezone.now())
    if project is not None and caller.project_slug != project:
        raise NotFound("There is no such project.")
    return _record(caller)


def identify_in_path(secret: str) -> Caller:
    """Return the caller for a token that is part of a URL."""
    return _record(tokens.authenticate_in_path(secret, now=timezone.now()))


def _record(caller: Caller) -> Caller:
    usage.record_seen(caller.token_id, caller.actor.agent_id, now=timezone.now())
    return caller


def require_scope(caller: Caller, scope: str) -> None:
    if not caller.actor.may(scope):
        raise Forbidden(f"This token does not have the scope “{scope}”.", scope=scope)
