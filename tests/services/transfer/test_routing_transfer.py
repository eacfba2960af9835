"""The golden set and the routing settings survive an export and an import, and agents never get them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from registry.core import roles
from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.errors import SkillsiteError
from registry.core.routing.golden import Case
from registry.models import Project, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.routing import golden_set, routing_settings
from registry.services.transfer import routing_transfer
from registry.services.transfer.routing_transfer import ImportedRouting
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.transfer.transfers import imported, zipped

CASES = (
    Case("Refund?", ("greeting",), ("other",), "positive", "Größe"),
    Case("Rain?", (), (), "negative"),
    Case('Near "it"\n?', (), (), "near-miss"),
)


@pytest.fixture
def full(project: Project, operator: Actor) -> Project:
    create_skill(project, skill_bundle(), by=operator)
    golden_set.add(project, CASES, by=operator)
    routing_settings.change(project, fixed_threshold=0.25, least_cases=3, blocking=True, by=operator)
    return project


@pytest.mark.parametrize("form", ["zip", "directory"])
def test_a_round_trip_changes_nothing(
    full: Project, other_project: Project, operator: Actor, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "export.zip" if form == "zip" else tmp_path / "export"
    call_command("export_project", "demo", str(path))
    with nothing_left_behind():
        call_command("import_project", "other", str(path), "--dry-run")
    call_command("import_project", "other", str(path))
    assert golden_set.all_of(other_project.pk) == CASES
    assert routing_settings.row_of(other_project.pk).fixed_threshold == 0.25
    assert zipped(other_project, operator) == zipped(full, operator)
    with nothing_left_behind():
        result = routing_transfer.import_routing(other_project, path, by=operator)
    assert result == ImportedRouting(0, 0, ("blocking", "fixed_threshold", "least_cases"))


def test_a_project_without_test_questions_exports_as_before(project: Project, operator: Actor, tmp_path: Path) -> None:
    create_skill(project, skill_bundle(), by=operator)
    call_command("export_project", "demo", str(tmp_path / "export"))
    record = (tmp_path / "export" / RECORD).read_bytes()
    assert set(json.loads(record)) == {"format", "skills"}
    assert record == export_record.write(export_record.read(record).values())
    assert routing_transfer.import_routing(project, tmp_path / "export", by=operator) is None


def test_agents_viewers_and_effective_exports_contain_no_test_questions(
    full: Project, viewer: Actor, operator: Actor
) -> None:
    agent = permissions.agent(ensure_agent(full, "bot", by=operator), frozenset(roles.SCOPES))
    for by in (viewer, agent):
        assert b"Refund?" not in zipped(full, by)
        assert routing_transfer.exported(full, by=by) == {}
    assert b"Refund?" not in zipped(full, operator, effective=True)
    assert len(routing_transfer.exported(full, by=operator)["golden_set"]) == 3


def test_an_etag_of_a_viewer_does_not_match_the_export_of_an_author(
    full: Project, person: Callable[[str], User], operator: Actor
) -> None:
    owner = person(roles.OWNER)
    secrets = [
        tokens.create_token(full, user=owner, scopes=scopes, by=operator) for scopes in (["read"], ["read", "write"])
    ]
    tags = {Api(full, secret).get("/export.zip")["ETag"] for secret in secrets}
    assert len(tags) == 2


@pytest.mark.parametrize(
    "parts",
    [
        {"golden_set": 3},
        {"golden_set": [{"query": ""}]},
        {"golden_set": [{"query": "a", "expected": []}], "routing": []},
        {"golden_set": [{"query": "a", "expected": []}], "routing": {"least_cases": -1}},
        {"routing": {"unknown": 1}},
    ],
)
def test_damaged_parts_are_refused_and_save_nothing(
    project: Project, operator: Actor, tmp_path: Path, parts: dict[str, Any]
) -> None:
    (tmp_path / RECORD).write_bytes(export_record.write([], parts))
    for dry_run in (True, False):
        with nothing_left_behind(), pytest.raises(SkillsiteError):
            routing_transfer.import_routing(project, tmp_path, dry_run=dry_run, by=operator)


def test_a_dry_run_counts_what_the_import_would_change(full: Project, operator: Actor, tmp_path: Path) -> None:
    entries = [
        {"query": "Refund?", "expected": []},
        {"query": "rain?", "expected": []},
        {"query": "New", "expected": []},
    ]
    (tmp_path / RECORD).write_bytes(export_record.write([], {"golden_set": entries}))
    with nothing_left_behind():
        foreseen = routing_transfer.import_routing(full, tmp_path, dry_run=True, by=operator)
    assert foreseen == routing_transfer.import_routing(full, tmp_path, by=operator)


def test_a_damaged_golden_set_is_named_after_the_skills_were_imported(
    full: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    call_command("export_project", "demo", str(tmp_path / "export"))
    record = tmp_path / "export" / RECORD
    record.write_bytes(record.read_bytes().replace(b'"Rain?"', b'""'))
    with pytest.raises(CommandError, match="Test question 2: The question is empty"):
        call_command("import_project", "other", str(tmp_path / "export"))
    assert golden_set.all_of(other_project.pk) == ()
    assert imported(other_project, tmp_path / "export", operator) == [("unchanged", "greeting", "1")]
