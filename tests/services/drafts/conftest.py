"""A skill to edit, and a colleague of the author."""

from collections.abc import Callable

import pytest

from registry.models import Project, User
from registry.services import permissions
from registry.services.drafts.drafts import Place
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def existing(project: Project, author: Actor) -> Place:
    """A skill of the project with one file, at version 1."""
    bundle = skill_bundle("greeting", {"references/names.md": b"Ada\n", "assets/logo.bin": b"\0\1"})
    saved = create_skill(project, bundle, by=author)
    return Place(project, "greeting", base=saved.version.digest)


@pytest.fixture
def colleague(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person("reviewer"), project)
