"""Tokens: only a hash is stored, scopes are limited by the holder, and revoked or expired tokens stop working."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, InvalidRequest, NotFound, Unauthenticated
from registry.models import Agent, Membership, Project, Token, User
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.agents.tokens import Caller
from registry.services.people import members, projects
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, operator: Actor) -> Agent:
    return agents.ensure(project, "bot", by=operator)


def caller(secret: str) -> Caller:
    return tokens.authenticate(secret, now=timezone.now())


def test_the_secret_is_not_stored(project: Project, bot: Agent, operator: Actor) -> None:
    secret = tokens.create_token(project, agent=bot, by=operator)
    assert secret.startswith("sks_")
    row = Token.objects.filter(agent=bot).values().get()
    assert not any(secret[len(row["start"]) :] in str(value) for value in row.values())
    assert len(row["start"]) == 8


def test_two_tokens_are_never_the_same(project: Project, bot: Agent, operator: Actor) -> None:
    assert len({tokens.create_token(project, agent=bot, by=operator) for _ in range(5)}) == 5


def test_an_agents_token_reads_and_proposes_by_default(project: Project, bot: Agent, operator: Actor) -> None:
    held = caller(tokens.create_token(project, agent=bot, by=operator))
    assert (held.actor.kind, held.actor.name, held.actor.scopes) == ("agent", "bot", {"read", "propose"})
    assert (held.project_id, held.project_slug) == (project.pk, "demo")


def test_a_persons_token_reads_by_default(project: Project, person: Callable[[str], User], operator: Actor) -> None:
    held = caller(tokens.create_token(project, user=person(roles.OWNER), by=operator))
    assert (held.actor.kind, held.actor.scopes) == ("person", {"read"})


@pytest.mark.parametrize("scope", ["review", "manage", "admin", "", "READ"])
def test_an_agent_gets_neither_scopes_of_people_nor_unknown_ones(
    project: Project, bot: Agent, operator: Actor, scope: str
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        tokens.create_token(project, agent=bot, scopes=["read", scope], by=operator)


def test_a_scope_of_people_in_the_row_of_an_agent_has_no_effect(project: Project, bot: Agent, operator: Actor) -> None:
    secret = tokens.create_token(project, agent=bot, by=operator)
    Token.objects.filter(agent=bot).update(scopes=list(roles.SCOPES))
    assert not caller(secret).actor.scopes & {"review", "manage"}


@pytest.mark.parametrize(
    ("role", "scope"),
    [("viewer", "write"), ("viewer", "review"), ("author", "review"), ("author", "manage"), ("reviewer", "manage")],
)
def test_a_person_gets_no_scope_beyond_their_role(
    project: Project, person: Callable[[str], User], operator: Actor, role: str, scope: str
) -> None:
    user = person(role)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="does not include"):
        tokens.create_token(project, user=user, scopes=[scope], by=operator)


def test_a_user_who_is_not_a_member_gets_no_token(
    other_project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.OWNER)
    with nothing_left_behind(), pytest.raises(NotFound):
        tokens.create_token(other_project, user=user, by=operator)


def test_an_agent_of_another_project_gets_no_token(other_project: Project, bot: Agent, operator: Actor) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        tokens.create_token(other_project, agent=bot, by=operator)


def test_a_persons_token_that_needs_more_than_a_lower_role_is_revoked(
    project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.REVIEWER)
    strong = tokens.create_token(project, user=user, scopes=["read", "write", "review"], by=operator)
    weak = tokens.create_token(project, user=user, scopes=["read", "write"], by=operator)
    assert caller(strong).actor.scopes == {"read", "write", "review"}
    members.set_role(project, user, roles.AUTHOR, by=operator)
    assert caller(weak).actor.scopes == {"read", "write"}
    with pytest.raises(Unauthenticated, match="revoked"):
        caller(strong)
    members.remove(project, user, by=operator)
    with pytest.raises(Unauthenticated, match="revoked"):
        caller(weak)


def test_a_persons_token_never_has_more_than_their_role(
    project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.REVIEWER)
    secret = tokens.create_token(project, user=user, scopes=["read", "review"], by=operator)
    Membership.objects.filter(project=project, user=user).update(role=roles.AUTHOR)
    assert caller(secret).actor.scopes == {"read"}
    Membership.objects.filter(project=project, user=user).delete()
    assert caller(secret).actor.scopes == frozenset()


@pytest.mark.parametrize("secret", ["", "sks_", "sks_unknown", "Bearer", "sks_" + "x" * 5_000, "sks_é", "a\0b"])
def test_an_invalid_token_is_refused(project: Project, secret: str) -> None:
    with pytest.raises(Unauthenticated):
        caller(secret)


def test_a_token_stops_working_when_it_expires(project: Project, bot: Agent, operator: Actor) -> None:
    secret = tokens.create_token(project, agent=bot, lifetime=timedelta(hours=1), by=operator)
    end = Token.objects.get(agent=bot).expires_at
    assert end is not None
    tokens.authenticate(secret, now=end - timedelta(seconds=1))
    with pytest.raises(Unauthenticated, match="expired"):
        tokens.authenticate(secret, now=end)


def test_a_revoked_token_stops_working_at_once(project: Project, bot: Agent, operator: Actor) -> None:
    secret = tokens.create_token(project, agent=bot, by=operator)
    tokens.revoke_token(project, Token.objects.get(agent=bot).pk, by=operator)
    with pytest.raises(Unauthenticated):
        caller(secret)
    with nothing_left_behind(), pytest.raises(NotFound):
        tokens.revoke_token(project, Token.objects.get(agent=bot).pk, by=operator)


def test_a_token_of_another_project_cannot_be_revoked(
    project: Project, other_project: Project, bot: Agent, operator: Actor
) -> None:
    secret = tokens.create_token(project, agent=bot, by=operator)
    with nothing_left_behind(), pytest.raises(NotFound):
        tokens.revoke_token(other_project, Token.objects.get(agent=bot).pk, by=operator)
    caller(secret)


def test_the_tokens_of_an_archived_project_stop_working_until_it_is_restored(
    project: Project, bot: Agent, operator: Actor
) -> None:
    secret = tokens.create_token(project, agent=bot, by=operator)
    projects.archive(project, by=operator)
    with pytest.raises(Unauthenticated):
        caller(secret)
    projects.restore(project, by=operator)
    caller(secret)


def test_the_token_of_a_disabled_user_stops_working(
    project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.OWNER)
    secret = tokens.create_token(project, user=user, by=operator)
    User.objects.filter(pk=user.pk).update(is_active=False)
    with pytest.raises(Unauthenticated):
        caller(secret)


@pytest.mark.parametrize(
    ("text", "lifetime"), [("90d", timedelta(days=90)), ("12h", timedelta(hours=12)), ("4w", timedelta(weeks=4))]
)
def test_a_lifetime_is_a_number_and_a_unit(text: str, lifetime: timedelta) -> None:
    assert tokens.parse_lifetime(text) == lifetime


@pytest.mark.parametrize("text", ["", "90", "d", "0d", "-1d", "1.5d", "90 d", "90D", "1y", "999999d", "٣d", "1d\n"])
def test_an_invalid_lifetime_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="such as 90d"):
        tokens.parse_lifetime(text)


# -- Tokens that people make for themselves ------------------------------------------------------------------


@pytest.mark.parametrize("role", roles.ROLES)
def test_members_create_and_revoke_their_own_tokens(project: Project, person: Callable[[str], User], role: str) -> None:
    user = person(role)
    me = permissions.person(user, project)
    issued = tokens.issue_token(project, user=user, scopes=sorted(roles.SCOPES_OF_ROLE[role]), by=me)
    held = caller(issued.secret).actor
    assert (held.name, held.scopes, held.maker_id) == (role, roles.SCOPES_OF_ROLE[role], user.pk)
    tokens.revoke_token(project, issued.token.pk, user=user, by=me)
    with pytest.raises(Unauthenticated):
        caller(issued.secret)


@pytest.mark.parametrize(("role", "scope"), [("viewer", "write"), ("author", "review"), ("reviewer", "manage")])
def test_a_member_cannot_create_a_token_beyond_their_role(
    project: Project, person: Callable[[str], User], role: str, scope: str
) -> None:
    user = person(role)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="does not include"):
        tokens.issue_token(project, user=user, scopes=["read", scope], by=permissions.person(user, project))


def test_a_token_cannot_create_a_stronger_one(project: Project, person: Callable[[str], User], operator: Actor) -> None:
    user = person(roles.OWNER)
    weak = caller(tokens.create_token(project, user=user, scopes=["read"], by=operator)).actor
    with nothing_left_behind(), pytest.raises(Forbidden, match="does not have write"):
        tokens.issue_token(project, user=user, scopes=["read", "write"], by=weak)


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR, roles.REVIEWER])
def test_only_owners_create_and_revoke_tokens_for_others(
    project: Project, bot: Agent, person: Callable[[str], User], operator: Actor, role: str
) -> None:
    user, other = person(role), person(roles.OWNER)
    me = permissions.person(user, project)
    theirs = tokens.issue_token(project, user=other, by=operator).token
    of_bot = tokens.issue_token(project, agent=bot, by=operator).token
    with nothing_left_behind():
        for holder in ({"user": other}, {"agent": bot}, {"agent": bot, "user": user}, {}):
            with pytest.raises(Forbidden):
                tokens.issue_token(project, **holder, by=me)
            with pytest.raises(Forbidden):
                tokens.revoke_token(project, theirs.pk, **holder, by=me)
        for token in (theirs, of_bot):
            with pytest.raises(NotFound):
                tokens.revoke_token(project, token.pk, user=user, by=me)


def test_a_user_of_another_project_cannot_create_a_token(
    project: Project, other_project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    user = person(roles.OWNER)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    elsewhere = permissions.person(user, other_project)
    with nothing_left_behind(), pytest.raises(NotFound, match="no such project"):
        tokens.issue_token(project, user=user, by=elsewhere)
