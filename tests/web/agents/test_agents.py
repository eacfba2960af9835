"""Pages of agents: members can read, and only owners can change."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Agent, Project
from registry.services.agents import agents, tokens
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.agents.pages import DESK, FILLED, LIST, MINE, NEW, TOKENS
from tests.web.conftest import Browser, signed_in

NOT_OWNERS = [roles.VIEWER, roles.AUTHOR, roles.REVIEWER]


@pytest.mark.parametrize("role", roles.ROLES)
def test_all_members_can_open_the_pages_and_only_owners_see_the_actions(
    desk: Agent, browser_client: Browser, role: str
) -> None:
    client, owner = browser_client(role), role == roles.OWNER
    pages = {where: client.get(where) for where in (LIST, DESK, TOKENS)}
    assert {page.status_code for page in pages.values()} == {200}
    assert ("New agent" in pages[LIST].content.decode()) == owner
    assert ("Remove agent" in pages[DESK].content.decode()) == owner
    assert ("Create token" in pages[TOKENS].content.decode()) == owner
    assert client.get(NEW).status_code == client.get(f"{DESK}change/").status_code == (200 if owner else 403)


def test_hostile_texts_are_escaped(desk: Agent, project: Project, operator: Actor, browser_client: Browser) -> None:
    evil = "</pre><script>alert(1)</script>"
    create_skill(project, skill_bundle("evil", body=evil), by=operator)
    definition = Definition(evil, evil, ("evil", evil), (evil,))
    agents.update(project, "desk", definition, by=operator)
    client = browser_client(roles.OWNER)
    for where in (LIST, DESK, f"{DESK}change/", TOKENS):
        assert "<script>alert" not in client.get(where).content.decode()
    agents.update(project, "desk", Definition(evil, evil, ("evil",)), by=operator)
    assert "&lt;/pre&gt;&lt;script&gt;alert" in client.get(DESK).content.decode()


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_the_agents(
    project: Project, operator: Actor, browser_client: Browser, django_assert_max_num_queries: Any
) -> None:
    client = signed_in(browser_client(roles.VIEWER))
    for number in range(12):
        agent = ensure_agent(project, f"bot-{number}", by=operator)
        tokens.create_token(project, agent=agent, by=operator)
        client.get(LIST)
        if number in (0, 11):
            with django_assert_max_num_queries(10):
                client.get(LIST)


@pytest.mark.parametrize("where", [LIST, DESK, TOKENS, MINE])
def test_a_user_of_another_project_gets_not_found(
    desk: Agent, other_project: Project, operator: Actor, where: str
) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, stranger, roles.OWNER, by=operator)
    client = Client()
    client.force_login(stranger)
    assert client.get(where).status_code == 404
    assert client.post(where).status_code in (404, 405)
    assert Client().get(where).status_code == 302


@pytest.mark.parametrize("name", ["absent", "DESK", "x" * 300, "%00"])
def test_an_unknown_agent_has_no_page(desk: Agent, browser_client: Browser, name: str) -> None:
    client = browser_client(roles.OWNER)
    for rest in ("", "change/", "tokens/"):
        assert client.get(f"{LIST}{name}/{rest}").status_code == (400 if name == "%00" else 404)


@pytest.mark.parametrize("role", NOT_OWNERS)
def test_only_owners_can_change_agents(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser, role: str
) -> None:
    token = tokens.issue_token(project, agent=desk, by=operator).token
    client = signed_in(browser_client(role))
    with nothing_left_behind():
        assert client.post(NEW, {**FILLED, "name": "mine"}).status_code == 403
        assert client.post(f"{DESK}change/", FILLED).status_code == 403
        assert client.post(TOKENS, {"scopes": ["read"], "expires": "90d"}).status_code == 403
        assert client.post(f"{TOKENS}{token.pk}/revoke/").status_code == 403
        assert client.post(f"{MINE}{token.pk}/revoke/").status_code == 403
        assert client.post(f"{DESK}remove/").status_code == 403


def test_forms_of_another_site_are_refused(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser
) -> None:
    token = tokens.issue_token(project, agent=desk, by=operator).token
    client = signed_in(browser_client(roles.OWNER, strict=True))
    places = (NEW, f"{DESK}change/", TOKENS, f"{TOKENS}{token.pk}/revoke/", f"{DESK}remove/", MINE)
    with nothing_left_behind():
        assert {client.post(where, FILLED).status_code for where in places} == {403}


def test_get_requests_change_nothing(desk: Agent, browser_client: Browser) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        assert client.get(f"{DESK}remove/").status_code == 405
        assert client.get(f"{TOKENS}1/revoke/").status_code == 405
        assert client.get(f"{MINE}1/revoke/").status_code == 405


def test_a_long_list_of_agents_is_paginated_with_a_fixed_number_of_queries(
    desk: Agent, project: Project, browser_client: Browser
) -> None:
    client = browser_client(roles.VIEWER)
    client.get(LIST)
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    Agent.objects.bulk_create([Agent(project=project, name=f"agent-{number:02}") for number in range(60)])
    with CaptureQueriesContext(connection) as many:
        client.get(LIST)
    assert len(many) == len(few)
    first, second = client.get(LIST), client.get(f"{LIST}?page=2")
    assert "61 agents" in first.content.decode()
    assert [len(page.context["rows"]) for page in (first, second)] == [50, 11]
    assert second.context["rows"][-1]["row"].agent.name == "desk"
