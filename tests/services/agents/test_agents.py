"""Agents: valid names, and creation."""

import pytest

from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind


@pytest.mark.parametrize("name", ["", "Bot", "a b", "-a", "a-", "a--b", "x" * 65, "bot\n", "../bot", "б"])
def test_an_invalid_agent_name_is_refused(project: Project, operator: Actor, name: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        agents.ensure(project, name, by=operator)


def test_ensure_returns_an_existing_agent(project: Project, operator: Actor) -> None:
    bot = agents.ensure(project, "bot", by=operator)
    with nothing_left_behind():
        assert agents.ensure(project, "bot", by=operator) == bot
