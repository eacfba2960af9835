"""The page of an agent: its instructions, visible skills and token estimates."""

from django.test import Client

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Agent, Project
from registry.services.agents import agents, tokens
from registry.services.permissions import Actor
from tests.prepared import disable_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.agents.pages import DESK, LIST
from tests.web.conftest import Browser, signed_in


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
