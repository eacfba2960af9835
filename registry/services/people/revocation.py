"""Revocation of the tokens that a person could still use: their own, and those that they made for agents or others.

The person who made a token may have kept its secret, so it must not outlive their role.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from registry.core import roles
from registry.models import Membership, Project, Token
from registry.services.audit import Change


@dataclass(frozen=True, slots=True)
class Affected:
    """The tokens that a change of a role revokes, and the agents that have no other token."""

    tokens: tuple[Token, ...] = ()
    agents: tuple[str, ...] = ()


def affected(project: Project, user_id: int, role: str | None = None) -> Affected:
    """Return what changes if the person gets this role. None means that they are no longer a member."""
    return _affected(_usable(project, now=timezone.now()), user_id, role)


def affected_by_removal(project: Project, members: Iterable[Membership]) -> dict[int, Affected]:
    """Return what the removal of each member revokes, by user, with one query for all."""
    usable = _usable(project, now=timezone.now())
    return {member.user_id: _affected(usable, member.user_id, None) for member in members}


def revoke(project: Project, user_id: int, role: str | None = None, *, change: Change) -> None:
    """Revoke the affected tokens inside the caller's change, and record them in its event."""
    now = timezone.now()
    lost = _affected(_usable(project, now=now), user_id, role)
    if lost.tokens:
        Token.objects.filter(pk__in=[token.pk for token in lost.tokens]).update(revoked_at=now)
        change.data.update(tokens=[token.pk for token in lost.tokens], agents=list(lost.agents))


def _usable(project: Project, *, now: datetime) -> list[Token]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    usable = Token.objects.filter(unexpired, project=project, revoked_at=None, agent__removed_at=None)
    return list(usable.select_related("agent", "user").order_by("pk"))


def _affected(usable: list[Token], user_id: int, role: str | None) -> Affected:
    kept = roles.SCOPES_OF_ROLE.get(role, frozenset()) if role else frozenset()
    lost = [
        token for token in usable if user_id in (token.user_id, token.owner_id) and not kept.issuperset(token.scopes)
    ]
    if not lost:
        return Affected()
    gone = {token.pk for token in lost}
    working = {token.agent_id for token in usable if token.pk not in gone}
    agents = {token.agent.name for token in lost if token.agent and token.agent_id not in working}
    return Affected(tuple(lost), tuple(sorted(agents)))
