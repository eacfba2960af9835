"""Isolated storage and empty caches for every test of the API, and a project with skills."""

from pathlib import Path

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
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
