"""Passwords cannot be tried out: wrong ones are counted for each name and each network they come from."""

import hashlib

from registry.core.errors import RateLimited
from registry.models import User
from registry.services import audit, client_address, counters
from registry.services.permissions import Actor, visitor

FOR_A_NAME, FOR_AN_ADDRESS, REST = 10, 50, 15 * 60


def attempt(username: str, *, address: str) -> None:
    """Counts before the password is looked at, so that many attempts at once cannot slip past the count.

    The refusal is the same for a name that exists and one that does not.
    """
    tried = {
        "name": (counters.count(_key("name", username), seconds=REST), FOR_A_NAME),
        "address": (counters.count(_key("address", client_address.network(address)), seconds=REST), FOR_AN_ADDRESS),
    }
    for what, (number, most) in tried.items():
        if number == most + 1:
            _record(what, username, address)
    if any(number > most for number, most in tried.values()):
        raise RateLimited(
            "Too many wrong passwords. Wait a quarter of an hour, or use a sign-in link.", retry_after=REST
        )


def right(user: User, *, address: str) -> None:
    """The password was right, so the attempt counts for nothing."""
    counters.forget(_key("name", user.username))
    counters.uncount(_key("address", client_address.network(address)))


def note(user: User) -> None:
    with audit.change(None, "signed-in", by=visitor(user), target=user.username) as change:
        change.data["with"] = "password"


def _record(what: str, username: str, address: str) -> None:
    """Names that nobody has are not written down: people type passwords into the wrong field."""
    known = User.objects.filter(username=username).values_list("username", flat=True).first() or ""
    with audit.change(None, "sign-in.refused", by=Actor("visitor", "somebody"), target=known) as change:
        change.data.update(counted_by=what, address=address)


def _key(what: str, text: str) -> str:
    return f"sign-in:{what}:{hashlib.sha256(text.lower().encode()).hexdigest()}"
