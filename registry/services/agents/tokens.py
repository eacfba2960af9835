"""Tokens of agents and people: made once, shown once, kept only as a hash, and who comes with one."""

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
from registry.services.catalog.prepared_query import OneRow
from registry.services.permissions import Actor, require

PREFIX = "sks_"
_DURATION = re.compile(r"([0-9]{1,5})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: all that a hot read needs to know, from one row.

    `last_event` is the hash of the last change of the project, which tells its states apart also where a restored
    backup makes the revisions start again from an earlier one. `allowed` are the only skills there are for this caller;
    None where all are.
    """

    actor: Actor
    token_id: int
    project_id: int
    project_slug: str
    revision: int
    last_event: str
    allowed: frozenset[str] | None = None

    @property
    def view_tag(self) -> str:
        """Changes whenever the caller could notice a change, and differs between callers who see different skills."""
        scope = "" if self.allowed is None else json.dumps(sorted(self.allowed))
        return f"{self.project_id} {self.revision} {self.last_event} {scope}"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token with its secret, which is not kept."""

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
    """For an agent and for somebody else it takes an owner; everybody makes tokens for themself, within their role."""
    _permit(project, None if agent else user, by)
    if agent is not None and agent.project_id != project.pk:
        raise NotFound(f"There is no agent {agent.name!r} in this project.")
    if agent is not None and agent.removed_at is not None:
        raise NotFound(f"The agent {agent.name} was removed.")
    wanted = tuple(scopes) or (roles.DEFAULT_AGENT_SCOPES if agent else roles.DEFAULT_PERSON_SCOPES)
    check_scopes(wanted, for_agent=user is None)
    if user is not None:
        _check_role(wanted, project, user)
    _check_not_beyond(wanted, user, by)
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
    """The secret of a new token."""
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
    """Whoever came with a token of their own does not make a stronger one with it.

    With one that somebody else made for them they make none: it would not say whose it is.
    """
    if by.maker_id not in (None, by.user_id):
        raise Forbidden(f"{by.name} came with a token that somebody else made. Sign in to make another one.")
    beyond = sorted(set(scopes) - by.scopes)
    if _own(user, by) and beyond:
        raise Forbidden(f"{by.name} came without {', '.join(beyond)} and gives it to no token.", scope=beyond[0])


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


def revoke_token(
    project: Project, token_id: int, *, agent: Agent | None = None, user: User | None = None, by: Actor
) -> None:
    """Stops one token; where its holder is given, it must be theirs. Everybody may stop their own."""
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
    """Who holds this token. Unknown, revoked and expired ones are turned away alike; only the words say which it is."""
    return _caller(secret, now)[0]


def authenticate_in_path(secret: str, *, now: datetime) -> Caller:
    """For a token that is part of an address, where others may see it: it may read and do nothing else."""
    caller, scopes = _caller(secret, now)
    if scopes != {roles.READ}:
        raise Forbidden(
            "A token in an address must have “read” as its only scope. "
            f"This one has: {', '.join(sorted(scopes))}. Make another one for this use.",
            scope=roles.READ,
        )
    return caller


def _caller(secret: str, now: datetime) -> tuple[Caller, frozenset[str]]:
    """The caller, and the scopes that the token was made with."""
    holder = _holder(_digest(secret))
    if holder is None:
        raise Unauthenticated("The token is not known here.")
    if holder.revoked:
        raise Unauthenticated("The token was revoked.")
    if holder.expires_at is not None and holder.expires_at <= now:
        raise Unauthenticated("The token has expired.")
    return holder.caller, holder.scopes


@dataclass(frozen=True, slots=True)
class _Holder:
    """All that a row says about a token, before the clock is asked."""

    caller: Caller
    scopes: frozenset[str]
    revoked: bool
    expires_at: datetime | None


def _read_holder(row: tuple[Any, ...]) -> _Holder:
    (
        token_id, scopes, expires_at, revoked_at, agent_id, user_id, project_id,
        slug, revision, archived_at, agent_name, user_name, user_active, role, removed_at, uses, listed, maker_id,
        last_event,
    ) = row  # fmt: skip
    made_with = frozenset(scopes)
    if agent_id is not None:
        granted = made_with - roles.NEVER_FOR_AGENTS
        actor = Actor("agent", agent_name, project_id, granted, agent_id=agent_id, maker_id=maker_id)
    else:
        # A person's token never outgrows the person: their role of today bounds it.
        granted = made_with & roles.SCOPES_OF_ROLE.get(role, frozenset())
        actor = Actor("person", user_name, project_id, granted, user_id=user_id, maker_id=maker_id)
    allowed = visible(listed, uses)
    revoked = bool(revoked_at or archived_at or removed_at or (user_id and not user_active))
    caller = Caller(actor, token_id, project_id, slug, revision, last_event or "", allowed)
    return _Holder(caller, made_with, revoked, expires_at)


_HOLDER_COLUMNS = (
    "pk", "scopes", "expires_at", "revoked_at", "agent_id", "user_id", "project_id",
    "project_slug", "project_revision", "project_archived_at", "agent_name", "user_name", "user_active", "role",
    "agent__removed_at", "agent__uses_skills", "agent__allowed_skills", "owner_id", "last_event",
)  # fmt: skip
_holder = OneRow(
    lambda digest: Token.objects.for_request().filter(digest=digest).values_list(*_HOLDER_COLUMNS), read=_read_holder
)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
