"""API tokens of agents and people. A secret is shown once; only its hash is stored."""

import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from registry.core import roles
from registry.core.catalog.visibility import visible
from registry.core.errors import Forbidden, InvalidRequest, NotFound, Unauthenticated
from registry.models import Agent, Membership, Project, Token, User
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.catalog.prepared_query import OneRow
from registry.services.permissions import Actor, require

PREFIX = "sks_"
_DURATION = re.compile(r"([0-9]{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, with everything that a hot read needs, from one row.

    `last_event` is the hash of the project's last change. It differs where a restored backup makes revision numbers
    repeat. `allowed` are the names of the skills that this caller may see, or None where it may see all. The catalog of
    an agent with `best_skills` has only as many skills.
    """

    actor: Actor
    token_id: int
    project_id: int
    project_slug: str
    revision: int
    last_event: str
    allowed: frozenset[str] | None = None
    best_skills: int | None = None

    @property
    def view_tag(self) -> str:
        """Identify what this caller can see: it changes with every change of the project or of `allowed`.

        The best skills depend on the prompt of the agent, so agents with such a limit share no tag.
        """
        scope = "" if self.allowed is None else json.dumps(sorted(self.allowed))
        best = f"best of {self.actor.agent_id}" if self.best_skills else ""
        return f"{catalog.ANSWERS} {self.project_id} {self.revision} {self.last_event} {scope}{best}"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token with its secret, which is not stored."""

    token: Token
    secret: str


def issue_token(
    project: Project,
    *,
    agent: Agent | None = None,
    user: User | None = None,
    scopes: Sequence[str] = (),
    lifetime: timedelta | None = None,
    by: Actor,
) -> Issued:
    """Create a token. Members create tokens for themselves, within their role; everything else needs an owner."""
    _permit(project, None if agent else user, by)
    if agent is not None and agent.project_id != project.pk:
        raise NotFound(f"There is no agent {agent.name!r} in this project.")
    if agent is not None and agent.removed_at is not None:
        raise NotFound(f"The agent {agent.name} was removed.")
    requested = tuple(scopes) or (roles.DEFAULT_AGENT_SCOPES if agent else roles.DEFAULT_PERSON_SCOPES)
    check_scopes(requested, for_agent=user is None)
    if user is not None:
        _check_role(requested, project, user)
    _check_not_beyond(requested, user, by)
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
            scopes=sorted(set(requested)),
            expires_at=timezone.now() + lifetime if lifetime else None,
        )
        expires_at = token.expires_at.isoformat() if token.expires_at else None
        change.data.update(token=token.pk, scopes=token.scopes, expires_at=expires_at)
    return Issued(token, secret)


def create_token(
    project: Project,
    *,
    agent: Agent | None = None,
    user: User | None = None,
    scopes: Sequence[str] = (),
    lifetime: timedelta | None = None,
    by: Actor,
) -> str:
    """Create a token and return its secret."""
    return issue_token(project, agent=agent, user=user, scopes=scopes, lifetime=lifetime, by=by).secret


def tokens_of(agent: Agent) -> list[Token]:
    return list(Token.objects.filter(agent=agent).select_related("owner").order_by("-pk"))


def tokens_of_people(project: Project) -> list[Token]:
    return list(Token.objects.filter(project=project, agent=None).select_related("user", "owner").order_by("-pk"))


def _permit(project: Project, user: User | None, by: Actor) -> None:
    require(by, roles.READ if _own(user, by) else roles.MANAGE, project)


def _own(user: User | None, by: Actor) -> bool:
    return user is not None and by.user_id == user.pk


def _check_not_beyond(scopes: Sequence[str], user: User | None, by: Actor) -> None:
    """Refuse to create a stronger token than the one that signs this request.

    A token that somebody else created for a person creates none: the new one would hide who is behind it.
    """
    if by.maker_id not in (None, by.user_id):
        raise Forbidden(f"{by.name} uses a token that somebody else created. Sign in to create another one.")
    beyond = sorted(set(scopes) - by.scopes)
    if _own(user, by) and beyond:
        raise Forbidden(
            f"The token of {by.name} does not have {', '.join(beyond)}, so it can’t give it to a new token.",
            scope=beyond[0],
        )


def check_scopes(scopes: Sequence[str], *, for_agent: bool) -> None:
    for scope in scopes:
        if scope not in roles.SCOPES:
            raise InvalidRequest(f"There is no scope {scope!r}. There are: {', '.join(roles.SCOPES)}.")
        if for_agent and scope in roles.NEVER_FOR_AGENTS:
            raise InvalidRequest(f"The scope {scope!r} is for people only. An agent’s token can’t have it.")


def _check_role(scopes: Sequence[str], project: Project, user: User) -> None:
    """Refuse scopes that the person's role does not include."""
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    if role is None:
        raise NotFound(f"{user.username} is not a member of {project.slug}.")
    if beyond := sorted(set(scopes) - roles.SCOPES_OF_ROLE[role]):
        raise InvalidRequest(
            f"{user.username} is {role} of {project.slug}, which does not include {', '.join(beyond)}."
        )


def parse_lifetime(text: str) -> timedelta:
    """Parse a lifetime such as `90d`, `12h` or `4w`."""
    match = _DURATION.fullmatch(text)
    if not match or not int(match[1]):
        raise InvalidRequest(f"{text!r} is not a lifetime. Write a number and h, d or w, such as 90d.")
    return int(match[1]) * _UNITS[match[2]]


def revoke_token(
    project: Project, token_id: int, *, agent: Agent | None = None, user: User | None = None, by: Actor
) -> None:
    """Revoke a token. If `agent` or `user` is given, it must be theirs. Members may revoke their own tokens."""
    _permit(project, None if agent else user, by)
    with audit.change(project, "token.revoked", by=by) as change:
        tokens = Token.objects.filter(project=project, pk=token_id, revoked_at=None)
        held = Q(agent=agent) if agent else Q(user=user) if user else Q()
        token = tokens.filter(held).select_related("agent", "user").first()
        if token is None:
            raise NotFound("There is no such token.")
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        change.target = token.agent.name if token.agent else token.user.username if token.user else ""
        change.data["token"] = token.pk


def authenticate(secret: str, *, now: datetime) -> Caller:
    """Return the caller with this secret, or raise Unauthenticated if it is unknown, revoked or expired."""
    return _caller(secret, now)[0]


def authenticate_in_path(secret: str, *, now: datetime) -> Caller:
    """Return the caller with a secret that is part of a URL. Others may see a URL, so it must be read-only."""
    caller, scopes = _caller(secret, now)
    if scopes != {roles.READ}:
        raise Forbidden(
            "A token in a URL must have “read” as its only scope. "
            f"This one has: {', '.join(sorted(scopes))}. Create another token for this use.",
            scope=roles.READ,
        )
    return caller


def _caller(secret: str, now: datetime) -> tuple[Caller, frozenset[str]]:
    """Return the caller and the scopes that the token was created with."""
    holder = _holder(_digest(secret))
    if holder is None:
        raise Unauthenticated("This token is unknown.")
    if holder.revoked:
        raise Unauthenticated("This token was revoked.")
    if holder.expires_at is not None and holder.expires_at <= now:
        raise Unauthenticated("This token has expired.")
    return holder.caller, holder.scopes


@dataclass(frozen=True, slots=True)
class _Holder:
    """A token row, independent of the current time."""

    caller: Caller
    scopes: frozenset[str]
    revoked: bool
    expires_at: datetime | None


def _read_holder(row: tuple[Any, ...]) -> _Holder:
    (
        token_id, scopes, expires_at, revoked_at, agent_id, user_id, project_id,
        slug, revision, archived_at, agent_name, user_name, user_active, role, removed_at, uses, listed, best, maker_id,
        last_event,
    ) = row  # fmt: skip
    created_with = frozenset(scopes)
    if agent_id is not None:
        granted = created_with - roles.NEVER_FOR_AGENTS
        actor = Actor("agent", agent_name, project_id, granted, agent_id=agent_id, maker_id=maker_id)
    else:
        # The person's current role limits the token, even if they had a stronger role when it was created.
        granted = created_with & roles.SCOPES_OF_ROLE.get(role, frozenset())
        actor = Actor("person", user_name, project_id, granted, user_id=user_id, maker_id=maker_id)
    allowed = visible(listed, uses)
    revoked = bool(revoked_at or archived_at or removed_at or (user_id and not user_active))
    caller = Caller(actor, token_id, project_id, slug, revision, last_event or "", allowed, best)
    return _Holder(caller, created_with, revoked, expires_at)


_HOLDER_COLUMNS = (
    "pk", "scopes", "expires_at", "revoked_at", "agent_id", "user_id", "project_id",
    "project_slug", "project_revision", "project_archived_at", "agent_name", "user_name", "user_active", "role",
    "agent__removed_at", "agent__uses_skills", "agent__allowed_skills", "agent__best_skills", "owner_id", "last_event",
)  # fmt: skip
_holder = OneRow(
    lambda digest: Token.objects.for_request().filter(digest=digest).values_list(*_HOLDER_COLUMNS), read=_read_holder
)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
