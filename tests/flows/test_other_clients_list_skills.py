"""Clients of other makers find the same skills as our API: over MCP, and by discovery with and without a token."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Usage
from registry.services.catalog import usage
from tests.conftest import Api, on_disk, skill_text
from tests.flows.conftest import write
from tests.protocols.mcp_client import Mcp

INDEX = "/.well-known/agent-skills/index.json"


@pytest.fixture
def skills(library: Path, project: Project, browser: Callable[[str], Client]) -> None:
    """A built-in skill, and a skill that an author published."""
    on_disk(library, "brand-voice", body="Write as we speak.")
    write(browser(roles.AUTHOR), skill_text("greeting", body="Say hello."), "publish")


@pytest.fixture
def token(skills: None, agent: Api) -> str:
    return agent.headers["Authorization"].removeprefix("Bearer ")


def digests(agent: Api) -> dict[str, str]:
    names = [skill["name"] for skill in agent.get("/catalog").json()["skills"]]
    return {name: agent.get(f"/skills/{name}").json()["digest"] for name in names}


def test_an_mcp_client_lists_and_reads_the_skills(token: str, agent: Api) -> None:
    client = Mcp(token)
    tools = {tool["name"] for tool in client.ask("tools/list")["tools"]}
    assert {"list_skills", "read_skill"} <= tools

    text = client.call("list_skills")["content"][0]["text"]
    assert "brand-voice" in text
    assert "Say hello." not in text, "the list contains descriptions, not instructions"
    assert "Say hello." in client.call("read_skill", skill_id="greeting")["content"][0]["text"]

    listed = {
        skill["frontmatter"]["name"]: skill["_meta"]["app.skillsite/digest"]
        for skill in client.ask("skills/list")["skills"]
    }
    assert listed == digests(agent)


def test_an_mcp_client_without_a_token_is_asked_for_one(token: str) -> None:
    response = Mcp("").request("skills/list")
    assert response.status_code == 401
    assert "Bearer" in response["WWW-Authenticate"]
    assert Mcp("sks_wrong").request("skills/list").status_code == 401


def test_a_client_discovers_skills_with_a_token_in_the_url(token: str, client: Client) -> None:
    index = client.get(f"/t/{token}{INDEX}").json()
    urls = {skill["name"]: skill["url"] for skill in index["skills"]}
    assert sorted(urls) == ["brand-voice", "greeting"]
    assert "Say hello." in client.get(urls["greeting"]).content.decode()

    usage.flush()
    assert Usage.objects.get().skill == "greeting"


def test_anybody_discovers_the_skills_of_a_public_project(
    skills: None, client: Client, browser: Callable[[str], Client], settings: Any
) -> None:
    settings.PUBLIC_ROOT_PROJECTS = ["demo"]
    assert client.get(f"/projects/demo{INDEX}").status_code == 404
    assert client.get(INDEX).json()["skills"] == []

    owner = browser(roles.OWNER)
    owner.post("/projects/demo/public/", {"public": "yes"})
    for address in (f"/projects/demo{INDEX}", INDEX):
        assert [skill["name"] for skill in client.get(address).json()["skills"]] == ["brand-voice", "greeting"]

    owner.post("/projects/demo/public/", {"public": "no"})
    assert client.get(f"/projects/demo{INDEX}").status_code == 404


def test_every_client_notices_a_change_with_its_next_request(
    token: str, client: Client, agent: Api, browser: Callable[[str], Client]
) -> None:
    before = digests(agent)["greeting"]
    write(browser(roles.AUTHOR), skill_text("greeting", body="Say hi."), "publish", name="greeting", base=before)

    after = digests(agent)["greeting"]
    assert after != before
    assert Mcp(token).call("read_skill", skill_id="greeting")["_meta"]["app.skillsite/digest"] == after
    (url,) = [
        skill["url"] for skill in client.get(f"/t/{token}{INDEX}").json()["skills"] if skill["name"] == "greeting"
    ]
    assert "Say hi." in client.get(url).content.decode()
