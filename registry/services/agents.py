"""Agents of a project and tokens: made once, shown once, kept only as a hash."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound, Unauthenticated
from registry.models import Agent, Membership, Project, Token, User
from registry.services import audit
from registry.services.permissions import Actor, require

PREFIX = "sks_"
_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_DURATION = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: all that a hot read needs to know, from one row."""

    actor: Actor
    token_id: int
    project_id: int
    project_slug: str
    revision: int


def ensure(project: Project, name: str, *, by: Actor) -> Agent:
    """The agent of that name; made when there is none."""
    require(by, roles.MANAGE, project)
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise InvalidRequest(f"An agent’s name has lower-case letters, digits and hyphens, 64 at most; not {name!r}.")
    with audit.change(project, "agent.created", by=by, target=name) as change:
        agent, made = Agent.objects.get_or_create(project=project, name=name)
        if not made:
            change.cancel()
        return agent


def create_token(
    project: Project,
    *,
    agent: Agent | None = None,
    user: User | None = None,
    scopes: Sequence[str] = (),
    lifetime: timedelta | None = None,
    by: Actor,
) -> str:
    """Returns the secret, which is not kept."""
    require(by, roles.MANAGE, project)
    wanted = tuple(scopes) or (roles.DEFAULT_AGENT_SCOPES if agent else roles.DEFAULT_PERSON_SCOPES)
    check_scopes(wanted, for_agent=user is None)
    if user is not None:
        _check_role(wanted, project, user)
    secret = PREFIX + secrets.token_urlsafe(32)
    holder = agent.name if agent else user.username if user else ""
    with audit.change(project, "token.created", by=by, target=holder) as change:
        token = Token.objects.create(
            project=project,
            agent=agent,
            user=user,
            owner_id=by.user_id,
            digest=_digest(secret),
            start=secret[:8],
            scopes=sorted(set(wanted)),
            expires_at=timezone.now() + lifetime if lifetime else None,
        )
        change.data.update(token=token.pk, scopes=token.scopes)
    return secret


def check_scopes(scopes: Sequence[str], *, for_agent: bool) -> None:
    for scope in scopes:
        if scope not in roles.SCOPES:
            raise InvalidRequest(f"There is no scope {scope!r}. There are: {', '.join(roles.SCOPES)}.")
        if for_agent and scope in roles.NEVER_FOR_AGENTS:
            raise InvalidRequest(f"The scope {scope!r} is for people only; an agent’s token never has it.")


def _check_role(scopes: Sequence[str], project: Project, user: User) -> None:
    """A person's token holds what their role includes, and no more."""
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    if role is None:
        raise NotFound(f"{user.username} is not a member of {project.slug}.")
    if beyond := sorted(set(scopes) - roles.SCOPES_OF_ROLE[role]):
        raise InvalidRequest(
            f"{user.username} is {role} of {project.slug}, which does not include {', '.join(beyond)}."
        )


def parse_lifetime(text: str) -> timedelta:
    """`90d`, `12h` or `4w`."""
    match = _DURATION.fullmatch(text)
    if not match or not int(match[1]):
        raise InvalidRequest(f"A lifetime is a number and h, d or w, as in 90d; not {text!r}.")
    return int(match[1]) * _UNITS[match[2]]


def revoke_token(project: Project, token_id: int, *, by: Actor) -> None:
    require(by, roles.MANAGE, project)
    with audit.change(project, "token.revoked", by=by) as change:
        token = Token.objects.filter(project=project, pk=token_id, revoked_at=None).first()
        if token is None:
            raise NotFound("There is no such token.")
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        change.data["token"] = token.pk


def authenticate(secret: str, *, now: datetime) -> Caller:
    """Who holds this token; unknown, expired and revoked ones sound the same to whoever guesses."""
    row = Token.objects.for_request().filter(digest=_digest(secret)).values_list(*_CALLER_COLUMNS).first()
    if row is None:
        raise Unauthenticated("The token is not known here.")
    (
        token_id, scopes, expires_at, revoked_at, agent_id, user_id, project_id,
        slug, revision, archived_at, agent_name, user_name, user_active, role,
    ) = row  # fmt: skip
    if revoked_at is not None or archived_at is not None or (user_id and not user_active):
        raise Unauthenticated("The token was revoked.")
    if expires_at is not None and expires_at <= now:
        raise Unauthenticated("The token has expired.")
    if agent_id is not None:
        granted = frozenset(scopes) - roles.NEVER_FOR_AGENTS
        actor = Actor("agent", agent_name, project_id, granted, agent_id=agent_id)
    else:
        # A person's token never outgrows the person: their role of today bounds it.
        granted = frozenset(scopes) & roles.SCOPES_OF_ROLE.get(role, frozenset())
        actor = Actor("person", user_name, project_id, granted, user_id=user_id)
    return Caller(actor, token_id, project_id, slug, revision)


_CALLER_COLUMNS = (
    "pk", "scopes", "expires_at", "revoked_at", "agent_id", "user_id", "project_id",
    "project_slug", "project_revision", "project_archived_at", "agent_name", "user_name", "user_active", "role",
)  # fmt: skip


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
