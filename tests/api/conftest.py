"""Isolated storage and empty caches for every test of the API, a project with skills, and callers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.core import roles
from registry.models import Project, User
from registry.services.agents import tokens
from registry.services.permissions import Actor
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def full(project: Project, library: Path, operator: Actor) -> Project:
    """Return a project with a skill, a built-in skill, and a broken one."""
    on_disk(library, "bundled-one")
    on_disk(library, "broken").joinpath("SKILL.md").write_text("no header")
    create_skill(project, skill_bundle(files={"a.txt": b"a"}), by=operator)
    return project


@pytest.fixture
def people(project: Project, person: Callable[[str], User], operator: Actor) -> Callable[..., Api]:
    """Return a function that creates a caller for a role, with every scope of the role unless some are given."""

    def make(role: str, *scopes: str) -> Api:
        user = person(role)
        granted = scopes or tuple(roles.SCOPES_OF_ROLE[role])
        return Api(project, tokens.create_token(project, user=user, scopes=granted, by=operator))

    return make


@pytest.fixture
def reviewer(people: Callable[..., Api]) -> Api:
    return people(roles.REVIEWER)
