"""The MCP prompt of an agent: its instructions, then the catalog. A token of a person has no prompt."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core.bundle import Bundle
from registry.core.catalog.visibility import Definition
from registry.models import Project, User
from registry.services.agents import agents, tokens
from registry.services.catalog import usage
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.protocols.mcp_client import LEGACY, Mcp


@pytest.fixture
def desk(project: Project, operator: Actor, offers: Bundle, mcp: Callable[..., Mcp]) -> Mcp:
    """Return an agent with a prompt, a skill and instructions, which may see two of three skills."""
    for name in ("greeting", "secret"):
        create_skill(project, skill_bundle(name, body=f"Body of {name}."), by=operator)
    caller = mcp(agent="desk")
    definition = Definition("You help.\n", "Be brief.", ("greeting",), ("offers",))
    agents.update(project, "desk", definition, by=operator)
    return caller


def text_of(result: Any) -> str:
    (message,) = result["messages"]
    assert message["role"] == "user" and message["content"]["type"] == "text"
    return str(message["content"]["text"])


def test_the_capability_is_declared_in_every_revision(caller: Mcp) -> None:
    assert caller.ask("server/discover")["capabilities"]["prompts"] == {}
    for revision in ("2025-11-25", "2025-06-18"):
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert caller.ask_old("initialize", **params)["capabilities"]["prompts"] == {}


def test_an_agent_has_one_prompt_without_arguments(desk: Mcp) -> None:
    for result in (desk.ask("prompts/list"), desk.ask_old("prompts/list")):
        (prompt,) = result["prompts"]
        assert (prompt["name"], prompt["arguments"]) == ("instructions", [])
        assert "desk" in prompt["title"] and prompt["description"]
        assert (result["cacheScope"], "nextCursor" in result) == ("private", False)


def test_the_prompt_has_every_part_in_order_and_the_catalog_last(desk: Mcp) -> None:
    for result in (
        desk.ask("prompts/get", name="instructions"),
        desk.ask("prompts/get", name="instructions", arguments={}),
        desk.ask_old("prompts/get", name="instructions", arguments=None),
    ):
        text = text_of(result)
        assert text.startswith("You help.\n\nBody of greeting.\n\nBe brief.\n\n[Available Skills]\n• `greeting` — ")
        assert text.endswith("\n\nUse read_skill(skill_id) to load full instructions.")
        assert "`offers`" in text and "secret" not in text
        assert result["_meta"]["app.skillsite/agent"] == "desk"


def test_the_catalog_of_the_prompt_is_that_of_list_skills(desk: Mcp) -> None:
    assert text_of(desk.ask("prompts/get", name="instructions")).endswith(
        desk.call("list_skills")["content"][0]["text"]
    )


def test_two_agents_that_see_the_same_skills_get_their_own_instructions(
    project: Project, operator: Actor, mcp: Callable[..., Mcp]
) -> None:
    callers = {name: mcp(agent=name) for name in ("one", "two")}
    for name in callers:
        agents.update(project, name, Definition(f"You are {name}."), by=operator)
    for name, caller in callers.items():
        assert text_of(caller.ask("prompts/get", name="instructions")) == f"You are {name}."
        assert name in caller.ask("prompts/list")["prompts"][0]["title"]


def test_getting_the_prompt_counts_as_loading_its_skills(desk: Mcp) -> None:
    desk.ask("prompts/get", name="instructions")
    assert {(load.skill, load.caller): n for load, n in usage._buffer.loads.items()} == {("greeting", "desk"): 1}


def test_a_change_of_the_agent_changes_the_prompt_at_once(desk: Mcp, project: Project, operator: Actor) -> None:
    desk.ask("prompts/get", name="instructions")
    agents.update(project, "desk", Definition("You wait."), by=operator)
    assert text_of(desk.ask("prompts/get", name="instructions")).startswith("You wait.\n\n[Available Skills]")


def test_a_token_of_a_person_has_no_prompt_and_gets_a_clear_error(
    project: Project, operator: Actor, person: Callable[[str], User]
) -> None:
    reader = Mcp(tokens.create_token(project, user=person("viewer"), scopes=["read"], by=operator))
    assert reader.ask("prompts/list")["prompts"] == []
    error = reader.refusal("prompts/get", name="instructions")
    assert error["code"] == -32602
    assert "belongs to a person, not to an agent" in error["message"] and "Use a token of an agent" in error["message"]


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"name": "absent"}, "Unknown prompt: absent"),
        ({}, "name is required"),
        ({"name": 5}, "name is required"),
        ({"name": "instructions", "arguments": {"a": "b"}}, "has no arguments"),
        ({"name": "instructions", "arguments": []}, "has no arguments"),
    ],
)
def test_invalid_parameters_are_refused(caller: Mcp, params: dict[str, Any], reason: str) -> None:
    error = caller.refusal("prompts/get", **params)
    assert error["code"] == -32602 and reason in error["message"]


def test_a_cursor_is_refused(caller: Mcp) -> None:
    assert caller.refusal("prompts/list", cursor="x")["code"] == -32602


def test_incomplete_instructions_are_an_error_that_names_the_skill(
    desk: Mcp, project: Project, operator: Actor
) -> None:
    skills.disable(project, "greeting", by=operator)
    error = desk.refusal("prompts/get", name="instructions")
    assert error["code"] == -32603 and "greeting is switched off" in error["message"]


def test_the_header_must_name_the_prompt(desk: Mcp) -> None:
    response = desk.request("prompts/get", {"name": "instructions"}, {"Mcp-Name": "other"})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)
    body = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "instructions"}}
    assert desk.post(body, {"MCP-Protocol-Version": LEGACY}).status_code == 200
