"""Two agents, a reviewer and a skill to propose changes to."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project, User
from registry.services import permissions
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, proposing_agent
from tests.services.proposals.suggesting import LINES


@pytest.fixture
def bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "bot", operator)


@pytest.fixture
def other_bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "other-bot", operator)


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


@pytest.fixture
def skill(project: Project, author: Actor) -> str:
    """The digest of greeting, which has a reference."""
    bundle = skill_bundle(body=LINES, files={"references/a.md": b"See SKILL.md.\n"})
    return create_skill(project, bundle, by=author).version.digest
