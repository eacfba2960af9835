"""User accounts, and one-time links that sign in without a password."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import Invitation, SignInLink, Token, User
from registry.services import audit
from registry.services.permissions import Actor, require_operator, visitor

SIGN_IN_FOR = timedelta(hours=1)
USERNAME_CHARS, FULL_NAME_CHARS = 64, 100
_USERNAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")


def create_user(username: str, *, full_name: str = "", staff: bool = False, by: Actor) -> User:
    """Create an account without a password. The person signs in with a link and can then set one."""
    if not _USERNAME.fullmatch(username) or len(username) > USERNAME_CHARS:
        raise InvalidRequest(
            "A username can have lower-case letters and digits, with single dots, hyphens or underscores between "
            f"them, and at most {USERNAME_CHARS} characters. Nothing was saved."
        )
    first, last = _names(full_name)
    with audit.change(None, "user.created", by=by, target=username):
        if User.objects.filter(username__iexact=username).exists():
            raise AlreadyExists(f"The username {username} is taken. Choose another one. Nothing was saved.")
        user = User(username=username, first_name=first, last_name=last, is_staff=staff)
        user.set_unusable_password()
        user.save(force_insert=True)
    return user


def make_sign_in_link(user: User, *, by: Actor) -> str:
    """Return the secret of a link that signs the user in once, within the hour."""
    require_operator(by)
    secret = secrets.token_urlsafe(32)
    with audit.change(None, "sign-in-link.made", by=by, target=user.username):
        now = timezone.now()
        SignInLink.objects.create(user=user, digest=_digest(secret), created_at=now, expires_at=now + SIGN_IN_FOR)
    return secret


def peek_sign_in_link(secret: str, *, now: datetime) -> User:
    """Return the owner of a link without using it up."""
    link = (
        SignInLink.objects.filter(digest=_digest(secret), used_at=None, expires_at__gt=now)
        .select_related("user")
        .first()
    )
    if link is None or not link.user.is_active:
        raise NotFound("This sign-in link is invalid, expired or already used. Ask for a new one.")
    return link.user


def spend_sign_in_link(secret: str, *, now: datetime) -> User:
    """Use up the link and return its owner. Of two attempts at once, one succeeds."""
    user = peek_sign_in_link(secret, now=now)
    with audit.change(None, "signed-in", by=visitor(user), target=user.username) as change:
        spent = SignInLink.objects.filter(digest=_digest(secret), used_at=None).update(used_at=now)
        if not spent:
            raise NotFound("This sign-in link was already used. Ask for a new one.")
        change.data["with"] = "link"
    return user


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def set_password(user: User, password: str) -> None:
    with audit.change(None, "password.set", by=visitor(user), target=user.username):
        user.set_password(password)
        user.save(update_fields=["password"])


def rename(user: User, full_name: str) -> None:
    """Change the name that others see."""
    first, last = _names(full_name)
    with audit.change(None, "user.renamed", by=visitor(user), target=user.username) as change:
        if (user.first_name, user.last_name) == (first, last):
            change.cancel()
            return
        user.first_name, user.last_name = first, last
        user.save(update_fields=["first_name", "last_name"])


def deactivate(user: User, *, by: Actor) -> int:
    """Close an account: nobody can sign in to it, and the tokens that the person has or made are revoked everywhere.

    Return how many tokens were revoked. Memberships stay, so that the account can be opened again.
    """
    require_operator(by)
    now = timezone.now()
    with audit.change(None, "user.deactivated", by=by, target=user.username) as change:
        if not User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
            change.cancel()
            return 0
        usable = Token.objects.filter(Q(user=user) | Q(owner=user), revoked_at=None)
        change.data["tokens"] = revoked = sorted(usable.values_list("pk", flat=True))
        usable.update(revoked_at=now)
        Invitation.objects.filter(made_by=user, used_at=None, withdrawn_at=None).update(withdrawn_at=now)
    return len(revoked)


def reactivate(user: User, *, by: Actor) -> None:
    """Open a closed account again. Its tokens stay revoked."""
    require_operator(by)
    with audit.change(None, "user.reactivated", by=by, target=user.username) as change:
        if not User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
            change.cancel()


def _names(full_name: str) -> tuple[str, str]:
    """Split a full name over Django's two columns. Only the whole name is ever shown."""
    full_name = " ".join(full_name.split())
    if len(full_name) > FULL_NAME_CHARS:
        raise InvalidRequest(
            f"The name has {len(full_name)} characters. The limit is {FULL_NAME_CHARS}. Nothing was saved."
        )
    first, _, last = full_name.partition(" ")
    return first, last
