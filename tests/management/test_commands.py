"""Commands an operator types: what they print, and what they refuse."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from registry.core import roles
from registry.models import Agent, Event, Project, Token, User
from registry.services.agents import tokens
from registry.services.people import accounts, projects
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind


def printed(command: str, *arguments: str) -> str:
    said = StringIO()
    call_command(command, *arguments, stdout=said)
    return said.getvalue()


def token(*arguments: str) -> str:
    return printed("create_token", "--project", "demo", *arguments)


# -- create_token ------------------------------------------------------------------------------------------


def test_a_token_is_printed_and_nothing_else(project: Project) -> None:
    said = token("--agent", "bot")
    assert said.count("\n") == 1
    held = tokens.authenticate(said.removesuffix("\n"), now=timezone.now())
    assert (held.actor.name, held.actor.scopes) == ("bot", {"read", "propose"})


def test_an_agent_that_does_not_exist_is_created_once(project: Project) -> None:
    token("--agent", "bot")
    token("--agent", "bot")
    assert Agent.objects.filter(project=project, name="bot").count() == 1
    assert Token.objects.count() == 2


def test_a_token_made_at_the_command_line_belongs_to_nobody(project: Project) -> None:
    token("--agent", "bot")
    assert Token.objects.get().owner is None
    assert Event.objects.filter(verb="token.created", actor_kind="operator").count() == 1


def test_scopes_are_given_one_by_one(project: Project) -> None:
    token("--agent", "bot", "--scope", "read", "--scope", "write")
    assert Token.objects.get().scopes == ["read", "write"]


def test_a_person_gets_what_their_role_allows(project: Project, person: Callable[[str], User]) -> None:
    person(roles.REVIEWER)
    token("--user", "reviewer", "--scope", "review")
    assert Token.objects.get().scopes == ["review"]


def test_a_token_expires_when_told_to(project: Project) -> None:
    token("--agent", "bot", "--expires", "90d")
    end = Token.objects.get().expires_at
    assert end is not None
    assert abs(end - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--user", "nobody"), "There is no user 'nobody'"),
        (("--user", "viewer", "--scope", "write"), "does not include write"),
        (("--agent", "bot", "--scope", "review"), "for people only"),
        (("--agent", "bot", "--scope", "everything"), "no scope 'everything'"),
        (("--agent", "bot", "--scope", "read,write"), "no scope 'read,write'"),
        (("--agent", "bot", "--expires", "soon"), "such as 90d"),
        (("--agent", "bot", "--expires", ""), "such as 90d"),
        (("--agent", "Not A Name"), "name for an agent"),
        (("--agent", ""), "name for an agent"),
        (("--user", ""), "There is no user ''"),
        (("--agent", "bot", "--user", "viewer"), "not allowed with"),
        ((), "required"),
    ],
)
def test_a_token_that_cannot_be_made_leaves_nothing(
    project: Project, person: Callable[[str], User], arguments: tuple[str, ...], said: str
) -> None:
    person(roles.VIEWER)
    with nothing_left_behind(), pytest.raises(CommandError, match=said):
        token(*arguments)


def test_an_unknown_project_is_refused(project: Project) -> None:
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no project 'other'"):
        printed("create_token", "--project", "other", "--agent", "bot")


def test_an_archived_project_gives_no_tokens(project: Project, operator: Actor) -> None:
    projects.archive(project, by=operator)
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no project"):
        token("--agent", "bot")


# -- sign_in_link ------------------------------------------------------------------------------------------


def test_a_sign_in_link_is_printed_for_a_user(project: Project, person: Callable[[str], User], settings: Any) -> None:
    settings.PUBLIC_URL = "https://skills.example.org"
    user = person(roles.OWNER)
    said = printed("sign_in_link", "owner")
    assert said.startswith("https://skills.example.org/sign-in/")
    assert said.count("\n") == 1
    secret = said.strip().rstrip("/").rpartition("/")[2]
    assert accounts.peek_sign_in_link(secret, now=timezone.now()) == user


@pytest.mark.parametrize("name", ["nobody", "retired"])
def test_nobody_gets_a_link_who_may_not_sign_in(db: None, operator: Actor, name: str) -> None:
    accounts.create_user("retired", by=operator)
    User.objects.filter(username="retired").update(is_active=False)
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no user"):
        printed("sign_in_link", name)
