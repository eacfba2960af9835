"""An agent that uses two skills and sees a third one."""

from pathlib import Path

import pytest

from registry.core.catalog.visibility import Definition
from registry.models import Agent, Project
from registry.services.agents import agents
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from tests.conftest import on_disk


@pytest.fixture
def desk(project: Project, library: Path, operator: Actor) -> Agent:
    for name in ("greeting", "letters", "other-one", "hidden-one"):
        on_disk(library, name)
    built_in.index().refresh()
    definition = Definition("You check reports.", "Answer in German.", ("greeting", "letters"), ("other-one",))
    return agents.create(project, "desk", definition, by=operator)
