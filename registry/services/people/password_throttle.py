"""The limit on wrong passwords, counted for each username and for each network."""

import hashlib

from registry.core.errors import RateLimited
from registry.models import User
from registry.services import audit, client_address, counters
from registry.services.permissions import Actor, visitor

PER_NAME, PER_NETWORK, WINDOW = 10, 50, 15 * 60


def attempt(username: str, *, address: str) -> None:
    """Count an attempt before the password is checked, so that parallel attempts cannot pass the limit.

    The error is the same for a name that exists and for one that does not.
    """
    attempts = {
        "name": (counters.count(_key("name", username), seconds=WINDOW), PER_NAME),
        "address": (counters.count(_key("address", client_address.network(address)), seconds=WINDOW), PER_NETWORK),
    }
    for kind, (count, limit) in attempts.items():
        if count == limit + 1:
            _record_refusal(kind, username, address)
    if any(count > limit for count, limit in attempts.values()):
        raise RateLimited("Too many wrong passwords. Wait 15 minutes, or use a sign-in link.", retry_after=WINDOW)


def succeeded(user: User, *, address: str) -> None:
    """Take back the attempt after a right password."""
    counters.forget(_key("name", user.username))
    counters.uncount(_key("address", client_address.network(address)))


def record_sign_in(user: User) -> None:
    with audit.change(None, "signed-in", by=visitor(user), target=user.username) as change:
        change.data["with"] = "password"


def _record_refusal(kind: str, username: str, address: str) -> None:
    """Write an audit event. Unknown names are left out, because people type passwords into the wrong field."""
    known = User.objects.filter(username=username).values_list("username", flat=True).first() or ""
    with audit.change(None, "sign-in.refused", by=Actor("visitor", "somebody"), target=known) as change:
        change.data.update(counted_by=kind, address=address)


def _key(kind: str, text: str) -> str:
    return f"sign-in:{kind}:{hashlib.sha256(text.lower().encode()).hexdigest()}"
