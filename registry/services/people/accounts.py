"""People: their accounts, and the link that lets them in without a password."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from django.utils import timezone

from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import SignInLink, User
from registry.services import audit
from registry.services.permissions import Actor, require_operator, visitor

SIGN_IN_FOR = timedelta(hours=1)
USERNAME_CHARS, FULL_NAME_CHARS = 64, 100
_USERNAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")


def create_user(username: str, *, full_name: str = "", staff: bool = False, by: Actor) -> User:
    """A person without a password: they get in by a sign-in link and may set one."""
    if not _USERNAME.fullmatch(username) or len(username) > USERNAME_CHARS:
        raise InvalidRequest(
            f"A user name has lower-case letters, digits, and single dots, hyphens or underscores between them, "
            f"{USERNAME_CHARS} characters at most. Nothing was stored."
        )
    first, last = _names(full_name)
    with audit.change(None, "user.created", by=by, target=username):
        if User.objects.filter(username__iexact=username).exists():
            raise AlreadyExists(f"The user name {username} is taken. Choose another one. Nothing was stored.")
        user = User(username=username, first_name=first, last_name=last, is_staff=staff)
        user.set_unusable_password()
        user.save(force_insert=True)
    return user


def make_sign_in_link(user: User, *, by: Actor) -> str:
    """The secret of a link that signs the user in once, within the hour."""
    require_operator(by)
    secret = secrets.token_urlsafe(32)
    with audit.change(None, "sign-in-link.made", by=by, target=user.username):
        now = timezone.now()
        SignInLink.objects.create(user=user, digest=_digest(secret), created_at=now, expires_at=now + SIGN_IN_FOR)
    return secret


def peek_sign_in_link(secret: str, *, now: datetime) -> User:
    """Whose link this is, without spending it."""
    link = (
        SignInLink.objects.filter(digest=_digest(secret), used_at=None, expires_at__gt=now)
        .select_related("user")
        .first()
    )
    if link is None or not link.user.is_active:
        raise NotFound("This sign-in link was used, has expired or was never made. Ask for another one.")
    return link.user


def spend_sign_in_link(secret: str, *, now: datetime) -> User:
    """Takes the link if nobody took it before, and says who signs in."""
    user = peek_sign_in_link(secret, now=now)
    with audit.change(None, "signed-in", by=visitor(user), target=user.username) as change:
        spent = SignInLink.objects.filter(digest=_digest(secret), used_at=None).update(used_at=now)
        if not spent:
            raise NotFound("This sign-in link was used. Ask for another one.")
        change.data["with"] = "link"
    return user


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def set_password(user: User, password: str) -> None:
    with audit.change(None, "password.set", by=visitor(user), target=user.username):
        user.set_password(password)
        user.save(update_fields=["password"])


def rename(user: User, full_name: str) -> None:
    """What others see beside everything the person does."""
    first, last = _names(full_name)
    with audit.change(None, "user.renamed", by=visitor(user), target=user.username) as change:
        if (user.first_name, user.last_name) == (first, last):
            change.cancel()
            return
        user.first_name, user.last_name = first, last
        user.save(update_fields=["first_name", "last_name"])


def _names(full_name: str) -> tuple[str, str]:
    """Two columns hold a name; only the whole is ever shown."""
    full_name = " ".join(full_name.split())
    if len(full_name) > FULL_NAME_CHARS:
        raise InvalidRequest(
            f"The name has {len(full_name)} characters. {FULL_NAME_CHARS} are allowed. Nothing was stored."
        )
    first, _, last = full_name.partition(" ")
    return first, last
