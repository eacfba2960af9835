"""Invitations: links that make one person a member. The secret is the permission, and it is shown once."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.models import Invitation, Membership, Project, User
from registry.services import audit
from registry.services.people import accounts, members
from registry.services.permissions import Actor, require, visitor

VALID_FOR = timedelta(days=7)
NOTE_CHARS = 100
_GONE = "This invitation is invalid, expired, withdrawn or already used. Ask for a new one."


def make(project: Project, role: str, *, note: str = "", by: Actor) -> str:
    """Return the secret of a link for one person, valid for seven days."""
    require(by, roles.MANAGE, project)
    members.check_role(role)
    note = " ".join(note.split())
    if len(note) > NOTE_CHARS:
        raise InvalidRequest(f"The note has {len(note)} characters. The limit is {NOTE_CHARS}. Nothing was saved.")
    secret = secrets.token_urlsafe(32)
    with audit.change(project, "invitation.made", by=by) as change:
        now = timezone.now()
        invitation = Invitation.objects.create(
            project=project, role=role, note=note, digest=_digest(secret), made_by_id=by.user_id,
            created_at=now, expires_at=now + VALID_FOR,
        )  # fmt: skip
        change.data.update(invitation=invitation.pk, role=role)
    return secret


def list_open(project: Project, *, now: datetime) -> list[Invitation]:
    """Return the invitations that can still be used, newest first."""
    return list(
        Invitation.objects.filter(project=project, used_at=None, withdrawn_at=None, expires_at__gt=now)
        .select_related("made_by")
        .order_by("-pk")
    )


def withdraw(project: Project, invitation_id: int, *, by: Actor) -> None:
    require(by, roles.MANAGE, project)
    with audit.change(project, "invitation.withdrawn", by=by) as change:
        unused = Invitation.objects.filter(project=project, pk=invitation_id, used_at=None, withdrawn_at=None)
        if not unused.update(withdrawn_at=timezone.now()):
            raise NotFound("This invitation is not open any more. It may have been used or withdrawn.")
        change.data["invitation"] = invitation_id


def peek(secret: str, *, now: datetime) -> Invitation:
    """Return the invitation of a link without using it up."""
    invitation = (
        Invitation.objects.filter(
            digest=_digest(secret), used_at=None, withdrawn_at=None, expires_at__gt=now, project__archived_at=None
        )
        .select_related("project", "made_by")
        .first()
    )
    if invitation is None:
        raise NotFound(_GONE)
    return invitation


def accept(secret: str, *, user: User, now: datetime) -> Membership:
    """Add the user with the role of the invitation. The secret is the permission, so no scope is required."""
    invitation = peek(secret, now=now)
    project = invitation.project
    with audit.change(project, "member.joined", by=visitor(user), target=user.username) as change:
        if Membership.objects.filter(project=project, user=user).exists():
            raise Conflict(f"You are already a member of {project.name}. The invitation was not used.")
        open_still = Invitation.objects.filter(pk=invitation.pk, used_at=None, withdrawn_at=None)
        if not open_still.update(used_at=now, used_by=user):
            raise NotFound(_GONE)
        change.data.update(invitation=invitation.pk, role=invitation.role)
        return Membership.objects.create(project=project, user=user, role=invitation.role)


def join(secret: str, *, username: str, full_name: str, password: str, now: datetime) -> Membership:
    """Create an account and its membership, or neither."""
    with transaction.atomic():
        peek(secret, now=now)
        user = accounts.create_user(username, full_name=full_name, by=Actor("person", username))
        accounts.set_password(user, password)
        return accept(secret, user=user, now=now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
