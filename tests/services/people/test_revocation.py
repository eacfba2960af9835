"""Tokens that end with a role: those of the person, and those that the person made."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from registry.core import roles
from registry.core.errors import NotFound, Unauthenticated
from registry.models import Event, Invitation, Project, Token, User
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.audit_log import verification
from registry.services.people import accounts, invitations, members, revocation
from registry.services.permissions import Actor


@pytest.fixture
def leaver(project: Project, operator: Actor) -> User:
    """An owner who is not the last one."""
    members.set_role(project, accounts.create_user("stays", by=operator), roles.OWNER, by=operator)
    user = accounts.create_user("leaver", by=operator)
    members.set_role(project, user, roles.OWNER, by=operator)
    return user


def works(secret: str) -> bool:
    try:
        tokens.authenticate(secret, now=timezone.now())
    except Unauthenticated:
        return False
    return True


def issued(project: Project, leaver: User, operator: Actor) -> dict[str, str]:
    """Return the secrets of tokens that the leaver has or made, and of some that are not affected."""
    maker, other = permissions.person(leaver, project), User.objects.get(username="stays")
    alone, shared = (agents.ensure(project, name, by=operator) for name in ("alone", "shared"))
    return {
        "own": tokens.create_token(project, user=leaver, scopes=["read"], by=maker),
        "made for an agent": tokens.create_token(project, agent=alone, by=maker),
        "made for a shared agent": tokens.create_token(project, agent=shared, by=maker),
        "made for another person": tokens.create_token(project, user=other, scopes=["read"], by=maker),
        "made by another person": tokens.create_token(project, agent=shared, by=operator),
        "of another person": tokens.create_token(project, user=other, scopes=["read"], by=operator),
    }


UNTOUCHED = {"made by another person", "of another person"}


@pytest.mark.parametrize("by_themselves", [True, False])
def test_a_removal_revokes_what_the_person_has_and_made(
    project: Project, leaver: User, operator: Actor, by_themselves: bool
) -> None:
    secrets = issued(project, leaver, operator)
    preview = revocation.affected(project, leaver.pk)
    members.remove(project, leaver, by=permissions.person(leaver, project) if by_themselves else operator)
    assert {name for name, secret in secrets.items() if works(secret)} == UNTOUCHED
    event = Event.objects.get(verb="member.removed")
    assert event.data["tokens"] == [token.pk for token in preview.tokens]
    assert event.data["agents"] == list(preview.agents) == ["alone"]
    assert len(preview.tokens) == 4
    assert verification.verify()[1] == []


def test_a_lower_role_revokes_only_what_needs_more(project: Project, leaver: User, operator: Actor) -> None:
    maker = permissions.person(leaver, project)
    agent = agents.ensure(project, "bot", by=operator)
    keeps = [
        tokens.create_token(project, user=leaver, scopes=["read", "propose"], by=maker),
        tokens.create_token(project, agent=agent, scopes=["read"], by=maker),
    ]
    loses = [
        tokens.create_token(project, user=leaver, scopes=["read", "manage"], by=maker),
        tokens.create_token(project, agent=agent, scopes=["write"], by=maker),
    ]
    members.set_role(project, leaver, roles.VIEWER, by=operator)
    assert [works(secret) for secret in keeps + loses] == [True, True, False, False]
    assert Event.objects.filter(verb="member.set").latest("pk").data["agents"] == []


def test_a_higher_role_revokes_nothing(project: Project, operator: Actor) -> None:
    user = accounts.create_user("riser", by=operator)
    members.set_role(project, user, roles.VIEWER, by=operator)
    secret = tokens.create_token(project, user=user, scopes=["read"], by=operator)
    members.set_role(project, user, roles.REVIEWER, by=operator)
    assert works(secret)


def test_a_removal_that_fails_revokes_nothing(project: Project, operator: Actor) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    agent = agents.ensure(project, "bot", by=operator)
    secret = tokens.create_token(project, agent=agent, by=operator)
    Token.objects.update(owner=stranger)
    with pytest.raises(NotFound):
        members.remove(project, stranger, by=operator)
    assert works(secret)


def test_a_closed_account_loses_its_tokens_in_every_project(
    project: Project, other_project: Project, leaver: User, operator: Actor
) -> None:
    secrets = issued(project, leaver, operator)
    members.set_role(other_project, leaver, roles.OWNER, by=operator)
    elsewhere = agents.ensure(other_project, "bot", by=operator)
    there = permissions.person(leaver, other_project)
    secrets["made elsewhere"] = tokens.create_token(other_project, agent=elsewhere, by=there)
    invitations.make(other_project, roles.VIEWER, by=there)
    output = StringIO()
    call_command("deactivate_user", "leaver", stdout=output)
    assert output.getvalue() == "leaver can no longer sign in. Tokens revoked: 5.\n"
    assert {name for name, secret in secrets.items() if works(secret)} == UNTOUCHED
    assert not Invitation.objects.filter(withdrawn_at=None).exists()
    call_command("deactivate_user", "leaver", "--undo", stdout=output)
    assert User.objects.get(username="leaver").is_active
    assert {name for name, secret in secrets.items() if works(secret)} == UNTOUCHED
    assert verification.verify()[1] == []


def test_only_a_known_account_is_closed(db: None) -> None:
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        call_command("deactivate_user", "nobody")
