"""Two agents, and a skill to propose changes to."""

from pathlib import Path

import pytest

from registry.models import Project
from registry.services.catalog import built_in
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, proposing_agent
from tests.services.proposals.suggesting import LINES


@pytest.fixture
def bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "bot", operator)


@pytest.fixture
def other_bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "other-bot", operator)


@pytest.fixture
def skill(project: Project, author: Actor) -> str:
    """The digest of greeting, which has a reference."""
    bundle = skill_bundle(body=LINES, files={"references/a.md": b"See SKILL.md.\n"})
    return create_skill(project, bundle, by=author).version.digest


@pytest.fixture
def protected(project: Project, library: Path, author: Actor, operator: Actor, skill: str) -> Project:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    create_skill(project, skill_bundle("gone"), by=author)
    delete_skill(project, "gone", by=author)
    projects.set_protected(project, True, by=operator)
    return project
