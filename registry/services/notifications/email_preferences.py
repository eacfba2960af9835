"""Email preferences of a user: which emails, and to which address. A new address has to be confirmed by a link."""

from datetime import timedelta

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from registry.core.errors import InvalidRequest, NotFound
from registry.models import EmailConfirmation, EmailPreference, User
from registry.models.notifications import EMAIL_CHOICES
from registry.services import audit, counters
from registry.services.notifications import email, worker
from registry.services.permissions import visitor

ADDRESS_CHARS = 254
CONFIRM_WITHIN = timedelta(days=1)
_LINKS_PER_HOUR = 5


def unconfirmed_address(user: User) -> str:
    """Return the address that waits to be confirmed, or an empty string."""
    return EmailConfirmation.objects.filter(user=user).values_list("address", flat=True).first() or ""


def choose(user: User, *, address: str, wanted: str, again: bool = False) -> bool:
    """Set the preference and the address. Return whether a confirmation link is sent.

    The old address stays in use until the new one is confirmed. `again` sends the link once more.
    """
    address = address.strip()
    if wanted not in EMAIL_CHOICES:
        raise InvalidRequest(f"{wanted[:40]!r} is not an email preference. Use one of: {', '.join(EMAIL_CHOICES)}.")
    if address:
        _check(address)
    sends_link = address not in ("", user.email) and (again or address != unconfirmed_address(user))
    if sends_link:
        _check_rate(user)
    with audit.change(None, "user.mail-chosen", by=visitor(user), target=user.username) as change:
        current = unconfirmed_address(user) or user.email, email.preference_of(user.pk)
        if not sends_link and (address, wanted) == current:
            change.cancel()
            return False
        EmailPreference.objects.update_or_create(user=user, defaults={"choice": wanted})
        _set_address(user, address, sends_link=sends_link)
        change.data.update(mail=wanted, address="asked" if sends_link else "kept" if address else "none")
    return sends_link


def _set_address(user: User, address: str, *, sends_link: bool) -> None:
    """Start a confirmation, or cancel the pending one if the user keeps or removes the current address."""
    if sends_link or address in ("", user.email):
        EmailConfirmation.objects.filter(user=user).delete()
    if sends_link:
        EmailConfirmation.objects.create(user=user, address=address)
        worker.wake()
    elif not address:
        user.email = ""
        user.save(update_fields=["email"])


def find_confirmation(user: User, secret: str) -> EmailConfirmation:
    """Return the confirmation for a link. A link works only for the user it was created for."""
    invalid = "This link was used before, is more than a day old, or is for another address."
    try:
        number, address = signing.loads(secret, salt=email.SALT, max_age=CONFIRM_WITHIN)
    except (signing.BadSignature, ValueError):
        raise NotFound(invalid) from None
    confirmation = EmailConfirmation.objects.filter(pk=number, address=address, user=user).first()
    if confirmation is None:
        raise NotFound(invalid)
    return confirmation


def confirm(user: User, secret: str) -> str:
    """Make the address of a link the user's address, and return it. The link works once."""
    confirmation = find_confirmation(user, secret)
    with audit.change(None, "user.mail-confirmed", by=visitor(user), target=user.username):
        if not EmailConfirmation.objects.filter(pk=confirmation.pk).delete()[0]:
            raise NotFound("This link was used before.")
        user.email = confirmation.address
        user.save(update_fields=["email"])
    return user.email


def _check(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError:
        raise InvalidRequest(f"{address[:80]} is not a valid email address. Nothing was saved.") from None
    if len(address) > ADDRESS_CHARS:
        raise InvalidRequest(f"The address has {len(address)} characters. {ADDRESS_CHARS} are allowed.")


def _check_rate(user: User) -> None:
    """Limit links, because an unconfirmed address may belong to a stranger."""
    if counters.count(f"new-address:{user.pk}", seconds=3600) > _LINKS_PER_HOUR:
        raise InvalidRequest(
            f"You have asked for {_LINKS_PER_HOUR} links in the last hour, which is the limit. Try again later. "
            "Nothing was saved."
        )
