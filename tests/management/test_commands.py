"""Management commands for tokens and sign-in links: output and errors."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from registry.core import roles
from registry.models import Agent, Event, Project, Token, User
from registry.services.agents import tokens
from registry.services.people import accounts, projects
from registry.services.permissions import Actor
from tests.management.conftest import command_output
from tests.services.footprint import nothing_left_behind


def create_token(*arguments: str) -> str:
    return command_output("create_token", "--project", "demo", *arguments)


# -- create_token ------------------------------------------------------------------------------------------


def test_only_the_token_is_printed(project: Project) -> None:
    output = create_token("--agent", "bot")
    assert output.count("\n") == 1
    caller = tokens.authenticate(output.removesuffix("\n"), now=timezone.now())
    assert (caller.actor.name, caller.actor.scopes) == ("bot", {"read", "propose"})


def test_a_missing_agent_is_created_once(project: Project) -> None:
    create_token("--agent", "bot")
    create_token("--agent", "bot")
    assert Agent.objects.filter(project=project, name="bot").count() == 1
    assert Token.objects.count() == 2


def test_a_token_from_the_command_line_has_no_owner(project: Project) -> None:
    create_token("--agent", "bot")
    assert Token.objects.get().owner is None
    assert Event.objects.filter(verb="token.created", actor_kind="operator").count() == 1


def test_the_scope_option_can_be_repeated(project: Project) -> None:
    create_token("--agent", "bot", "--scope", "read", "--scope", "write")
    assert Token.objects.get().scopes == ["read", "write"]


def test_a_person_gets_a_scope_of_their_role(project: Project, person: Callable[[str], User]) -> None:
    person(roles.REVIEWER)
    create_token("--user", "reviewer", "--scope", "review")
    assert Token.objects.get().scopes == ["review"]


def test_a_token_expires_after_the_given_time(project: Project) -> None:
    create_token("--agent", "bot", "--expires", "90d")
    end = Token.objects.get().expires_at
    assert end is not None
    assert abs(end - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
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
def test_an_invalid_request_for_a_token_changes_nothing(
    project: Project, person: Callable[[str], User], arguments: tuple[str, ...], message: str
) -> None:
    person(roles.VIEWER)
    with nothing_left_behind(), pytest.raises(CommandError, match=message):
        create_token(*arguments)


def test_an_unknown_project_is_refused(project: Project) -> None:
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no project 'other'"):
        command_output("create_token", "--project", "other", "--agent", "bot")


def test_an_archived_project_is_refused(project: Project, operator: Actor) -> None:
    projects.archive(project, by=operator)
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no project"):
        create_token("--agent", "bot")


# -- sign_in_link ------------------------------------------------------------------------------------------


def test_a_sign_in_link_is_printed_for_a_user(project: Project, person: Callable[[str], User], settings: Any) -> None:
    settings.PUBLIC_URL = "https://skills.example.org"
    user = person(roles.OWNER)
    output = command_output("sign_in_link", "owner")
    assert output.startswith("https://skills.example.org/sign-in/")
    assert output.count("\n") == 1
    secret = output.strip().rstrip("/").rpartition("/")[2]
    assert accounts.peek_sign_in_link(secret, now=timezone.now()) == user


@pytest.mark.parametrize("name", ["nobody", "retired"])
def test_an_unknown_or_inactive_user_gets_no_link(db: None, operator: Actor, name: str) -> None:
    accounts.create_user("retired", by=operator)
    User.objects.filter(username="retired").update(is_active=False)
    with nothing_left_behind(), pytest.raises(CommandError, match="There is no user"):
        command_output("sign_in_link", name)
