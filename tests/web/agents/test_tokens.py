"""Pages of tokens: an agent's and a member's tokens are created, shown once and revoked."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Agent, Event, Project, Token, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.permissions import Actor
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.agents.pages import MINE, TOKENS
from tests.web.conftest import Browser, signed_in

Person = Callable[[str], User]


def reads(secret: str) -> int:
    return Client().get("/api/v1/projects/demo/catalog", headers={"Authorization": f"Bearer {secret}"}).status_code


def test_a_token_is_shown_once_and_stops_when_revoked(desk: Agent, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    response = client.post(TOKENS, {"scopes": ["read"], "expires": "30d"})
    secret = response.context["issued"].secret
    token = Token.objects.get()
    assert response.status_code == 201
    assert secret in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    assert (token.scopes, token.agent_id) == (["read"], desk.pk)
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    assert reads(secret) == 200
    again = client.get(TOKENS).content.decode()
    assert secret not in again
    assert token.start in again
    assert secret not in str(list(Event.objects.values())) + str(list(Token.objects.values()))
    assert client.post(f"{TOKENS}{token.pk}/revoke/")["Location"] == TOKENS
    assert reads(secret) == 401
    assert "revoked" in client.get(TOKENS).content.decode()


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"scopes": []},
        {"scopes": ["read", "manage"]},
        {"scopes": ["review"]},
        {"scopes": ["root"]},
        {"scopes": ["read"], "expires": "100y"},
        {"scopes": ["read"], "expires": "-1d"},
    ],
)
def test_a_token_with_scopes_that_agents_may_not_have_is_refused(
    desk: Agent, browser_client: Browser, values: dict[str, Any]
) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.post(TOKENS, values).status_code == 422


def test_a_token_is_revoked_only_at_the_url_of_its_agent(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser
) -> None:
    other = tokens.issue_token(project, agent=ensure_agent(project, "other", by=operator), by=operator).token
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.post(f"{TOKENS}{other.pk}/revoke/").status_code == 404


@pytest.mark.parametrize("role", roles.ROLES)
def test_members_create_and_revoke_their_own_tokens_on_the_page(
    project: Project, browser_client: Browser, role: str
) -> None:
    client = browser_client(role)
    offered = [option["value"] for option in client.get(MINE).context["form"].options]
    assert set(offered) == roles.SCOPES_OF_ROLE[role]
    response = client.post(MINE, {"scopes": ["read"], "expires": ""})
    secret, token = response.context["issued"].secret, Token.objects.get()
    assert (response.status_code, str(token.user), token.expires_at) == (201, role, None)
    assert "no-store" in response["Cache-Control"]
    assert reads(secret) == 200
    assert secret not in client.get(MINE).content.decode()
    client.post(f"{MINE}{token.pk}/revoke/")
    assert reads(secret) == 401


@pytest.mark.parametrize(("role", "scope"), [("viewer", "write"), ("author", "review"), ("reviewer", "manage")])
def test_a_token_beyond_the_role_of_the_member_is_refused(
    project: Project, browser_client: Browser, role: str, scope: str
) -> None:
    client = signed_in(browser_client(role))
    with nothing_left_behind():
        response = client.post(MINE, {"scopes": ["read", scope], "expires": "90d"})
    assert response.status_code == 422
    assert f"does not include {scope}" in response.content.decode()


def test_only_owners_see_and_revoke_the_tokens_of_others(
    project: Project, person: Person, browser_client: Browser
) -> None:
    author = person(roles.AUTHOR)
    issued = tokens.issue_token(project, user=author, by=permissions.person(author, project))
    start, where = issued.token.start, f"{MINE}{issued.token.pk}/revoke/"
    viewer = signed_in(browser_client(roles.VIEWER))
    assert start not in viewer.get(MINE).content.decode()
    with nothing_left_behind():
        assert viewer.post(where).status_code == 403
    owner = browser_client(roles.OWNER)
    assert start in owner.get(MINE).content.decode()
    assert owner.post(where).status_code == 302
    assert reads(issued.secret) == 401
