"""Pages of agents and tokens: members can read, owners can change, and a secret is shown once."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Agent, Event, Project, Token, User
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.catalog import built_in
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.web.skills import name_options
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, disable_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import signed_in

Browser = Callable[..., Client]
Person = Callable[[str], User]
NOT_OWNERS = [roles.VIEWER, roles.AUTHOR, roles.REVIEWER]
LIST, NEW, DESK = "/projects/demo/agents/", "/projects/demo/new-agent/", "/projects/demo/agents/desk/"
TOKENS, MINE = f"{DESK}tokens/", "/projects/demo/tokens/"
FILLED = {
    "name": "desk",
    "prompt": "You check reports.\r\nBe exact.",
    "instructions": "Answer in German.",
    "uses_skills": "greeting, letters",
    "sees": "listed",
    "allowed_skills": "other-one",
    "trust": "elevated",
}


@pytest.fixture
def desk(project: Project, library: Path, operator: Actor) -> Agent:
    for name in ("greeting", "letters", "other-one", "hidden-one"):
        on_disk(library, name)
    built_in.index().refresh()
    definition = Definition("You check reports.", "Answer in German.", ("greeting", "letters"), ("other-one",))
    return agents.create(project, "desk", definition, by=operator)


def reads(secret: str) -> int:
    return Client().get("/api/v1/projects/demo/catalog", headers={"Authorization": f"Bearer {secret}"}).status_code


# -- Looking --------------------------------------------------------------------------------------------------


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


def test_the_page_shows_exactly_what_the_agent_gets(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser
) -> None:
    secret = tokens.create_token(project, agent=desk, scopes=["read"], by=operator)
    headers = {"Authorization": f"Bearer {secret}"}
    composed = Client().get("/api/v1/projects/demo/agents/desk/instructions", headers=headers).json()
    catalog = Client().get("/api/v1/projects/demo/catalog?format=text", headers=headers).content.decode()
    page = browser_client(roles.VIEWER).get(DESK)
    details = page.context["details"]
    assert [part.text for part in details.parts] == [part["text"] for part in composed["parts"]]
    assert [part.tokens for part in details.parts] == [part["tokens"] for part in composed["parts"]]
    assert details.catalog.strip() == catalog.strip()
    assert details.total == composed["tokens"] + details.catalog_tokens
    assert "hidden-one" not in page.content.decode()


def test_the_list_and_the_page_show_the_same_costs(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser
) -> None:
    ensure_agent(project, "plain", by=operator)
    client = browser_client(roles.VIEWER)
    listed = {item["row"].agent.name: item for item in client.get(LIST).context["rows"]}
    for name, item in listed.items():
        details = client.get(f"{LIST}{name}/").context["details"]
        assert (item["instructions"], item["catalog"]) == (details.instructions.tokens, details.catalog_tokens)
    assert listed["plain"]["instructions"] == 0


def test_an_unavailable_skill_is_explained(
    desk: Agent, project: Project, operator: Actor, browser_client: Browser
) -> None:
    disable_skill(project, "letters", by=operator)
    definition = Definition(uses_skills=("greeting", "letters", "unknown"), allowed_skills=("nowhere",))
    agents.update(project, "desk", definition, by=operator)
    client = browser_client(roles.VIEWER)
    page = " ".join(client.get(DESK).content.decode().split())
    assert "desk gets an error instead of its instructions." in page
    assert "<code>letters</code></a> is switched off." in page
    assert "<code>unknown</code> is not in this project." in page
    assert "<code>nowhere</code> is not in this project, so this agent can’t use it." in page
    assert "A skill it uses is missing" in client.get(LIST).content.decode()


def test_opening_the_page_does_not_count_as_a_load(desk: Agent, browser_client: Browser) -> None:
    client = signed_in(browser_client(roles.VIEWER))
    with nothing_left_behind():
        client.get(DESK)
    assert agents.rows(desk.project, [desk])[0].loads == 0


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


# -- Changing -------------------------------------------------------------------------------------------------


def test_an_owner_creates_changes_and_removes_an_agent(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    assert client.post(NEW, FILLED)["Location"] == TOKENS
    made = agents.definition_of(Agent.objects.get())
    assert made == Definition(
        "You check reports.\nBe exact.", "Answer in German.", ("greeting", "letters"), ("other-one",), "elevated"
    )
    assert client.post(f"{DESK}change/", {**FILLED, "sees": "all", "prompt": "New."})["Location"] == DESK
    changed = agents.definition_of(Agent.objects.get())
    assert (changed.prompt, changed.allowed_skills) == ("New.", None)
    assert client.post(f"{DESK}remove/")["Location"] == LIST
    assert client.get(DESK).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Give the agent a name"),
        ({"name": "Two Words"}, "lower-case letters"),
        ({"name": "x" * 65}, "64"),
        ({"trust": "absolute"}, "absolute"),
        ({"trust": ""}, "required"),
        ({"sees": "some"}, "some is not one of the available choices"),
        ({"sees": ""}, "Choose which skills the agent can see."),
        ({"prompt": "a" * 100_001}, "100,001 characters. At most 100,000 are allowed. Nothing was saved."),
        ({"prompt": "a\0b"}, "Null characters"),
        ({"uses_skills": "x" * 200}, "not a valid skill name"),
    ],
)
def test_invalid_input_is_explained_and_kept_in_the_form(
    project: Project, browser_client: Browser, wrong: dict[str, str], said: str
) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        response = client.post(NEW, {**FILLED, **wrong})
    assert response.status_code == 422
    page = response.content.decode()
    assert said in page
    assert "Answer in German." in page
    assert "greeting, letters" in page or "uses_skills" in wrong


def test_two_agents_cannot_have_the_same_name(desk: Agent, browser_client: Browser) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        response = client.post(NEW, FILLED)
    assert response.status_code == 422
    assert "An agent named desk already exists." in response.content.decode()


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


# -- Tokens of an agent ---------------------------------------------------------------------------------------


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


# -- Tokens of people -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", roles.ROLES)
def test_members_create_and_revoke_their_own_tokens_on_the_page(
    project: Project, browser_client: Browser, role: str
) -> None:
    client = browser_client(role)
    offered = [option["value"] for option in client.get(MINE).context["form"].options]
    assert set(offered) == roles.SCOPES_OF_ROLE[role] - {roles.RUN}
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


# -- Very many of them ------------------------------------------------------------------------------------------


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


NAMES = "/projects/demo/names"


@pytest.fixture
def very_many(project: Project, library: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(name_options, "MOST", 3)
    for name in ("alpha", "beta", "delta", "gamma", "metal-alloy"):
        on_disk(library, name)
    built_in.index().refresh()
    return project


@pytest.mark.parametrize("where", [NEW, "/projects/demo/new/"])
def test_the_form_contains_some_names_and_links_to_the_others(
    very_many: Project, browser_client: Browser, where: str
) -> None:
    page = browser_client(roles.OWNER).get(where)
    assert page.context["known_names"] == ["alpha", "beta", "delta"]
    assert f'<datalist id="known-names" data-more="{NAMES}">' in page.content.decode()


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["alpha", "beta", "delta"]),
        ("al", ["alpha", "metal-alloy"]),
        (" GA ", ["gamma"]),
        ("lta", ["delta"]),
        ("nothing", []),
        ("</datalist><script>", []),
    ],
)
def test_names_that_start_with_the_word_are_suggested_first(
    very_many: Project, browser_client: Browser, typed: str, names: list[str]
) -> None:
    answer = browser_client(roles.VIEWER).get(NAMES, {"q": typed})
    assert answer.content.decode() == "".join(f'<option value="{name}"></option>' for name in names)
    assert answer["Cache-Control"] == "private, no-store"


def test_only_members_get_name_suggestions(very_many: Project, client: Client, operator: Actor) -> None:
    assert client.get(NAMES).status_code == 302
    client.force_login(accounts.create_user("stranger", by=operator))
    assert client.get(NAMES).status_code == 404
    assert client.post(NAMES).status_code in (404, 405)
