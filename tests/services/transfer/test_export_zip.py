"""Exports of a project as a zip."""

import io
import os
import tracemalloc
import zipfile

import pytest

from registry.core import roles
from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.bundle import SKILL_MD
from registry.core.errors import NotFound, SkillsiteError
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.transfer import export_zip
from tests.conftest import skill_bundle
from tests.prepared import import_bundle
from tests.services.transfer.transfers import names, zipped


def test_a_zip_has_the_own_skills_in_order_and_a_record(mixed: Project, operator: Actor) -> None:
    data = zipped(mixed, operator)
    assert names(data) == [
        RECORD, "covered/SKILL.md", "greeting/SKILL.md", "greeting/b", "named/SKILL.md", "off/SKILL.md",
    ]  # fmt: skip
    said = export_record.read(zipfile.ZipFile(io.BytesIO(data)).read(RECORD))
    assert [(one.name, one.version, one.source, one.enabled) for one in said.values()] == [
        ("covered", "1", "project", True),
        ("greeting", "2", "project", True),
        ("named", "2.1", "project", True),
        ("off", "1", "project", False),
    ]
    assert said["greeting"].digest == catalog.get(mixed.pk, "greeting").winner.digest  # type: ignore[union-attr]


def test_the_zip_has_the_announced_length_and_is_deterministic(mixed: Project, operator: Actor) -> None:
    assert export_zip.export_zip(mixed, by=operator).length == len(zipped(mixed, operator))
    assert zipped(mixed, operator) == zipped(mixed, operator)


def test_an_effective_export_has_all_skills_of_agents(mixed: Project, operator: Actor) -> None:
    said = names(zipped(mixed, operator, effective=True))
    assert [name for name in said if name.endswith(SKILL_MD)] == [
        "bundled-one/SKILL.md", "covered/SKILL.md", "greeting/SKILL.md", "named/SKILL.md",
    ]  # fmt: skip
    assert "bundled-one/a.txt" in said


@pytest.mark.parametrize("effective", [False, True])
def test_an_agent_exports_only_enabled_skills_on_its_list(mixed: Project, operator: Actor, effective: bool) -> None:
    agent = Actor("agent", "bot", mixed.pk, frozenset({roles.READ}))
    assert "off/SKILL.md" not in names(zipped(mixed, agent, effective=effective))
    allowed = frozenset({"named", "off"})
    assert names(zipped(mixed, agent, effective=effective, allowed=allowed)) == [RECORD, "named/SKILL.md"]


def test_a_project_without_skills_exports_an_empty_record(project: Project, operator: Actor) -> None:
    assert names(zipped(project, operator)) == [RECORD]


@pytest.mark.parametrize("scopes", [frozenset(), frozenset({roles.WRITE})])
def test_an_export_needs_the_scope_read(mixed: Project, scopes: frozenset[str]) -> None:
    with pytest.raises(SkillsiteError, match="not allowed to read"):
        export_zip.export_zip(mixed, by=Actor("agent", "bot", mixed.pk, scopes))


def test_another_project_cannot_be_exported(mixed: Project, other_project: Project) -> None:
    with pytest.raises(NotFound):
        export_zip.export_zip(mixed, by=Actor("agent", "bot", other_project.pk, frozenset({roles.READ})))


@pytest.mark.slow
def test_a_long_export_needs_little_memory(project: Project, operator: Actor) -> None:
    for number in range(12):
        import_bundle(
            project, skill_bundle(f"s{number}", {f"{part}.bin": os.urandom(1 << 20) for part in range(2)}), by=operator
        )
    archive = export_zip.export_zip(project, by=operator)
    tracemalloc.start()
    length = sum(map(len, archive.chunks))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length == archive.length > 24 << 20
    assert peak < 8 << 20
