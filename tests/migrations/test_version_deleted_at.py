"""The migration that finds out from the audit log which versions were deleted."""

import importlib

import pytest
from django.apps import apps
from django.utils import timezone

from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import bundles, skills, versions
from tests.conftest import skill_bundle

migration = importlib.import_module("registry.migrations.0002_version_deleted_at")


def deleted() -> dict[tuple[str, str], bool]:
    rows = Version.objects.select_related("skill")
    return {(row.skill.name, row.version): row.deleted_at is not None for row in rows}


@pytest.fixture
def history(project: Project, operator: Actor) -> None:
    """Skills that were deleted, created again, restored, undeleted, imported again, or never deleted."""
    for name in ("recreated", "deleted", "undeleted", "restored", "imported", "kept", "yanked"):
        bundle = skill_bundle(name, metadata={"version": "1.0"}) if name == "imported" else skill_bundle(name)
        bundles.import_bundle(project, bundle, by=operator)
        if name not in ("kept", "yanked"):
            skills.delete(project, name, by=operator)
    skills.create(project, skill_bundle("recreated", body="Again."), by=operator)
    skills.undelete(project, "undeleted", by=operator)
    versions.restore(project, "restored", "1", by=operator)
    bundles.import_bundle(project, skill_bundle("imported", metadata={"version": "1.0"}), by=operator)
    versions.yank(project, "yanked", "1", reason="Wrong.", by=operator)


def test_the_audit_log_says_which_versions_were_deleted(history: None) -> None:
    expected = deleted()
    assert sum(expected.values()) == 3
    Version.objects.update(deleted_at=None)
    migration.replay_deletions(apps, None)
    assert deleted() == expected


def test_a_deleted_version_that_an_old_yank_made_current_is_taken_away(project: Project, operator: Actor) -> None:
    deleted_version = skills.create(project, skill_bundle(body="Old."), by=operator).version
    skills.delete(project, "greeting", by=operator)
    wrong = skills.create(project, skill_bundle(body="Wrong."), by=operator).version
    with audit.change(project, "version.yanked", by=operator, target="greeting") as change:
        change.before, change.after = wrong.digest, deleted_version.digest
        change.data.update(version=wrong.version, reason="Wrong price.")
        Version.objects.filter(pk=wrong.pk).update(yanked_at=timezone.now())
        Version.objects.update(deleted_at=None)
        Skill.objects.update(current=deleted_version)
    migration.replay_deletions(apps, None)
    assert Skill.objects.get(name="greeting").current is None
    assert deleted() == {("greeting", "1"): True, ("greeting", "2"): False}
    assert verification.verify()[1] == []


def test_the_migration_leaves_a_site_without_deletions_alone(project: Project, operator: Actor) -> None:
    skills.create(project, skill_bundle(), by=operator)
    migration.replay_deletions(apps, None)
    assert deleted() == {("greeting", "1"): False}
