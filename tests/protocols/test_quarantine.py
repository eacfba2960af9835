"""A quarantined skill at the doors of other clients: not listed, not read, and without a crash."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.models import Project
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import quarantine
from tests.conftest import agent_token, skill_bundle
from tests.prepared import create_skill
from tests.protocols.mcp_client import Mcp

INDEXES = (".well-known/agent-skills/index.json", ".well-known/skills/index.json")


@pytest.fixture
def mcp(project: Project, operator: Actor) -> Mcp:
    create_skill(project, skill_bundle("kept"), by=operator)
    create_skill(project, skill_bundle("held", {"a.txt": b"a"}), by=operator)
    return Mcp(agent_token(project, "bot", ("read",), operator))


@pytest.fixture
def hold(project: Project, operator: Actor) -> Callable[[], Any]:
    return lambda: quarantine.quarantine(project, "held", "1", reason="Sends keys away.", by=operator)


def test_mcp_neither_lists_nor_reads_it(mcp: Mcp, hold: Callable[[], Any]) -> None:
    uris = [one["uri"] for one in mcp.ask("resources/list")["resources"] if "/held/" in one["uri"]]
    assert uris
    hold()
    assert "held" not in str(mcp.ask("resources/list"))
    assert "held" not in str(mcp.call("list_skills"))
    read = mcp.call("read_skill", skill_id="held")
    assert read["isError"] is True
    assert "in quarantine" in str(read)
    assert "Sends keys" not in str(read)
    for uri in uris:
        assert "message" in mcp.refusal("resources/read", uri=uri)


def test_discovery_neither_lists_nor_serves_it(
    project: Project, operator: Actor, mcp: Mcp, hold: Callable[[], Any]
) -> None:
    projects.set_public(project, True, by=operator)
    client, base = Client(), f"/projects/{project.slug}"
    before = [client.get(f"{base}/{index}") for index in INDEXES]
    assert all("held" in str(answer.json()) for answer in before)
    hold()
    for index, old in zip(INDEXES, before, strict=True):
        fresh = client.get(f"{base}/{index}", headers={"If-None-Match": old.headers.get("ETag", "")})
        assert fresh.status_code == 200
        assert "held" not in str(fresh.json())
    for path in ("agent-skills/held.zip", "agent-skills/held/SKILL.md", "skills/held/SKILL.md"):
        assert client.get(f"{base}/.well-known/{path}").status_code == 404
