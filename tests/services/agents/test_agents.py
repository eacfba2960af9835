"""Agents: plain names, made once."""

import pytest

from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind


@pytest.mark.parametrize("name", ["", "Bot", "a b", "-a", "a-", "a--b", "x" * 65, "bot\n", "../bot", "б"])
def test_an_agents_name_is_plain(project: Project, operator: Actor, name: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        agents.ensure(project, name, by=operator)


def test_an_agent_that_is_there_is_not_made_again(project: Project, operator: Actor) -> None:
    bot = agents.ensure(project, "bot", by=operator)
    with nothing_left_behind():
        assert agents.ensure(project, "bot", by=operator) == bot
