"""A project with skills of every kind."""

from pathlib import Path

import pytest

from registry.models import Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, import_bundle, save_skill, yank_version


@pytest.fixture
def mixed(project: Project, library: Path, operator: Actor) -> Project:
    """Create skills with two versions, a named version, customised, disabled, deleted and withdrawn."""
    on_disk(library, "bundled-one", {"a.txt": b"a"})
    on_disk(library, "covered")
    built_in.index().refresh()
    first = create_skill(project, skill_bundle(files={"data/ü.bin": b"\0\xff", "empty": b""}), by=operator).version
    save_skill(project, "greeting", skill_bundle(files={"b": b"\r\n"}), base=first.digest, by=operator)
    import_bundle(project, skill_bundle("named", metadata={"version": "2.1"}), by=operator)
    import_bundle(project, skill_bundle("covered", body="Ours."), by=operator)
    create_skill(project, skill_bundle("off"), by=operator)
    disable_skill(project, "off", by=operator)
    create_skill(project, skill_bundle("gone"), by=operator)
    delete_skill(project, "gone", by=operator)
    create_skill(project, skill_bundle("withdrawn"), by=operator)
    yank_version(project, "withdrawn", "1", reason="Wrong.", by=operator)
    return project
