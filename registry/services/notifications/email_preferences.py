"""What a person gets by email and where. A new address counts once they follow the link that is sent there."""

from datetime import timedelta

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from registry.core.errors import InvalidRequest, NotFound
from registry.models import NewAddress, Preference, User
from registry.models.notifications import MAIL
from registry.services import audit, counters
from registry.services.notifications import email, worker
from registry.services.permissions import visitor

ADDRESS_CHARS = 254
CONFIRM_WITHIN = timedelta(days=1)
_LINKS_AN_HOUR = 5


def asked(user: User) -> str:
    """The address that waits to be confirmed, empty for none."""
    return NewAddress.objects.filter(user=user).values_list("address", flat=True).first() or ""


def choose(user: User, *, address: str, wanted: str, again: bool = False) -> bool:
    """How much email a person wants and where. Says whether a link goes out: the old address holds until then.

    `again` sends another link to the address that waits.
    """
    address = address.strip()
    if wanted not in MAIL:
        raise InvalidRequest(f"There is no choice {wanted[:40]!r}. There are: {', '.join(MAIL)}.")
    if address:
        _check(address)
    asks = address not in ("", user.email) and (again or address != asked(user))
    if asks:
        _check_number(user)
    with audit.change(None, "user.mail-chosen", by=visitor(user), target=user.username) as change:
        if not asks and (address, wanted) == (asked(user) or user.email, email.wants(user.pk)):
            change.cancel()
            return False
        Preference.objects.update_or_create(user=user, defaults={"mail": wanted})
        _move(user, address, asks=asks)
        change.data.update(mail=wanted, address="asked" if asks else "kept" if address else "none")
    return asks


def _move(user: User, address: str, *, asks: bool) -> None:
    """Inside a change: a link for a new address; for the one there is, or none, no link counts any more."""
    if asks or address in ("", user.email):
        NewAddress.objects.filter(user=user).delete()
    if asks:
        NewAddress.objects.create(user=user, address=address)
        worker.wake()
    elif not address:
        user.email = ""
        user.save(update_fields=["email"])


def look(user: User, secret: str) -> NewAddress:
    """The address that a link stands for, without taking it. A link is its person's alone."""
    over = "This link was used, is more than a day old, or was sent for another address since."
    try:
        number, address = signing.loads(secret, salt=email.SALT, max_age=CONFIRM_WITHIN)
    except (signing.BadSignature, ValueError):
        raise NotFound(over) from None
    found = NewAddress.objects.filter(pk=number, address=address, user=user).first()
    if found is None:
        raise NotFound(over)
    return found


def confirm(user: User, secret: str) -> str:
    """The address is the person's from now on, and the link is spent."""
    found = look(user, secret)
    with audit.change(None, "user.mail-confirmed", by=visitor(user), target=user.username):
        if not NewAddress.objects.filter(pk=found.pk).delete()[0]:
            raise NotFound("This link was used already.")
        user.email = found.address
        user.save(update_fields=["email"])
    return user.email


def _check(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError:
        raise InvalidRequest(f"{address[:80]} is no email address. Nothing was stored.") from None
    if len(address) > ADDRESS_CHARS:
        raise InvalidRequest(f"The address has {len(address)} characters. {ADDRESS_CHARS} are allowed.")


def _check_number(user: User) -> None:
    """Letters to an address that nobody confirmed go to strangers for all we know."""
    if counters.count(f"new-address:{user.pk}", seconds=3600) > _LINKS_AN_HOUR:
        raise InvalidRequest(f"{_LINKS_AN_HOUR} links an hour are sent. Wait, and try again. Nothing was stored.")
