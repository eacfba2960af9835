"""The limits on wrong passwords.

They count by name and network together, so that a stranger cannot lock a named person out, and by network. A name that
is tried from many networks is refused only where its owner has not signed in before.
"""

import hashlib
import unicodedata

from registry.core.errors import RateLimited
from registry.models import BrowserSession, User
from registry.services import audit, client_address, counters
from registry.services.permissions import Actor, visitor

PER_NAME_AND_NETWORK, PER_NETWORK, PER_NAME, WINDOW = 10, 50, 100, 15 * 60
_USERNAME_CHARS = 150  # the limit of the form, which normalises nothing longer


def attempt(username: str, *, address: str) -> None:
    """Count an attempt before the password is checked, so that parallel attempts cannot pass the limit.

    The error is the same for a name that exists and for one that does not.
    """
    typed, network = _cleaned(username), client_address.network(address)
    name = normalise(username)
    counts = {kind: counters.count(key, seconds=WINDOW) for kind, key in _keys(name, network).items()}
    limits = {"name and address": PER_NAME_AND_NETWORK, "address": PER_NETWORK, "name": PER_NAME}
    exceeded = [kind for kind, limit in limits.items() if counts[kind] > limit]
    if exceeded == ["name"] and _has_signed_in_from(typed, network):
        return
    for kind in exceeded:
        if counts[kind] == limits[kind] + 1:
            _record_refusal(kind, typed, address)
    if exceeded:
        raise RateLimited("Too many wrong passwords. Wait 15 minutes, or use a sign-in link.", retry_after=WINDOW)


def succeeded(user: User, *, address: str) -> None:
    """Take back the attempt after a right password."""
    keys = _keys(normalise(user.username), client_address.network(address))
    counters.forget(keys["name and address"])
    counters.uncount(keys["address"])
    counters.uncount(keys["name"])


def normalise(username: str) -> str:
    """Return one text for all spellings that the sign-in form takes for the same name, in upper and lower case."""
    return _cleaned(username).casefold()


def _cleaned(username: str) -> str:
    """Return the name as the sign-in form reads it."""
    username = username.strip()
    return username if len(username) > _USERNAME_CHARS else unicodedata.normalize("NFKC", username).strip()


def record_sign_in(user: User) -> None:
    with audit.change(None, "signed-in", by=visitor(user), target=user.username) as change:
        change.data["with"] = "password"


def _has_signed_in_from(username: str, network: str) -> bool:
    """Return whether the person has a session that was last seen in this network."""
    addresses = BrowserSession.objects.filter(user__username=username).values_list("address", flat=True)
    return any(client_address.network(address) == network for address in addresses)


def _record_refusal(kind: str, username: str, address: str) -> None:
    """Write an audit event. Unknown names are left out, because people type passwords into the wrong field."""
    known = User.objects.filter(username=username).values_list("username", flat=True).first() or ""
    with audit.change(None, "sign-in.refused", by=Actor("visitor", "somebody"), target=known) as change:
        change.data.update(counted_by=kind, address=address)


def _keys(name: str, network: str) -> dict[str, str]:
    return {
        "name and address": _key("name and address", f"{network}\n{name}"),
        "address": _key("address", network),
        "name": _key("name", name),
    }


def _key(kind: str, text: str) -> str:
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"sign-in:{kind.replace(' ', '-')}:{digest}"
