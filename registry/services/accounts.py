"""People and projects: who gets in, which projects there are, who belongs to them."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from django.core.cache import cache
from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyExists, InvalidRequest, NotFound, RateLimited
from registry.models import Membership, Project, SignInLink, User
from registry.services import audit
from registry.services.permissions import Actor, require

SIGN_IN_FOR = timedelta(hours=1)
ATTEMPTS, ATTEMPTS_FOR = 10, 15 * 60
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def create_project(*, slug: str, name: str, description: str = "", by: Actor) -> Project:
    """A new project; the person who makes it owns it."""
    slug, name = slug.strip(), " ".join(name.split())
    if not _SLUG.fullmatch(slug) or len(slug) > 64:
        raise InvalidRequest(f"An address has lower-case letters, digits and hyphens, 64 at most; not {slug!r}.")
    if not name or len(name) > 100:
        raise InvalidRequest("A project needs a name of 100 characters at most.")
    with audit.change(None, "project.created", by=by, target=slug) as change:
        project, made = Project.objects.get_or_create(slug=slug, defaults={"name": name, "description": description})
        if not made:
            raise AlreadyExists(f"The address {slug} is taken. Choose another one. Nothing was stored.")
        if by.user_id is not None:
            Membership.objects.create(project=project, user_id=by.user_id, role=roles.OWNER)
        change.data["project"] = project.pk
    return project


def create_user(username: str, *, full_name: str = "", staff: bool = False, by: Actor) -> User:
    """A person without a password: they get in by a sign-in link and may set one."""
    with audit.change(None, "user.created", by=by, target=username):
        if User.objects.filter(username=username).exists():
            raise AlreadyExists(f"There is a user {username} already.")
        first, _, last = full_name.partition(" ")
        user = User(username=username, first_name=first, last_name=last, is_staff=staff)
        user.set_unusable_password()
        user.save(force_insert=True)
    return user


def set_role(project: Project, user: User, role: str, *, by: Actor) -> Membership:
    """Makes somebody a member, or changes what they may do."""
    require(by, roles.MANAGE, project)
    if role not in roles.ROLES:
        raise InvalidRequest(f"There is no role {role!r}. There are: {', '.join(roles.ROLES)}.")
    with audit.change(project, "member.set", by=by, target=user.username) as change:
        membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        change.data["role"] = role
    return membership


def make_sign_in_link(user: User, *, by: Actor) -> str:
    """The secret of a link that signs the user in once, within the hour."""
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
    by = Actor("person", user.username, user_id=user.pk)
    with audit.change(None, "signed-in", by=by, target=user.username) as change:
        spent = SignInLink.objects.filter(digest=_digest(secret), used_at=None).update(used_at=now)
        if not spent:
            raise NotFound("This sign-in link was used. Ask for another one.")
        change.data["with"] = "link"
    return user


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def set_password(user: User, password: str) -> None:
    by = Actor("person", user.username, user_id=user.pk)
    with audit.change(None, "password.set", by=by, target=user.username):
        user.set_password(password)
        user.save(update_fields=["password"])


def note_sign_in(user: User) -> None:
    cache.delete(_attempts_key(user.username))
    by = Actor("person", user.username, user_id=user.pk)
    with audit.change(None, "signed-in", by=by, target=user.username) as change:
        change.data["with"] = "password"


def check_attempts(username: str) -> None:
    """Passwords cannot be tried out: after ten wrong ones a name rests for a quarter of an hour."""
    if cache.get(_attempts_key(username), 0) >= ATTEMPTS:
        raise RateLimited(
            "Too many wrong passwords for this name. Wait a quarter of an hour, or use a sign-in link.",
            retry_after=ATTEMPTS_FOR,
        )


def note_failure(username: str) -> None:
    key = _attempts_key(username)
    cache.add(key, 0, timeout=ATTEMPTS_FOR)
    try:
        cache.incr(key)
    except ValueError:
        cache.set(key, 1, timeout=ATTEMPTS_FOR)


def _attempts_key(username: str) -> str:
    return f"sign-in:{_digest(username.lower())}"
