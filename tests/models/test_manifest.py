"""Manifests are tuples of FileEntry in Python and rows of JSON in the database."""

import json

import pytest
from django.db import connection

from registry.core.bundle import FileEntry
from registry.models import Draft, Project, Skill, Version
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill

pytestmark = pytest.mark.django_db


def stored_manifest() -> object:
    with connection.cursor() as cursor:
        cursor.execute("SELECT manifest FROM registry_version")
        (value,) = cursor.fetchone()
    return json.loads(value) if isinstance(value, str) else value


def test_manifest_is_stored_as_rows_of_path_size_and_digest(project: Project, operator: Actor) -> None:
    bundle = skill_bundle("greeting", files={"references/tone.md": b"Friendly."})
    create_skill(project, bundle, by=operator)
    assert stored_manifest() == [[entry.path, entry.size, entry.digest] for entry in bundle.manifest]


def test_manifest_is_read_as_file_entries(project: Project, operator: Actor) -> None:
    bundle = skill_bundle("greeting", files={"references/tone.md": b"Friendly."})
    create_skill(project, bundle, by=operator)
    version = Version.objects.get()
    assert version.manifest == bundle.manifest
    assert Version.objects.values_list("manifest", flat=True).get() == bundle.manifest
    assert Skill.objects.get().upstream_manifest == ()


def test_manifest_in_an_update_is_stored_the_same_way(project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle("greeting"), by=operator)
    entry = FileEntry("SKILL.md", 3, "0" * 64)
    Version.objects.update(manifest=(entry,))
    assert stored_manifest() == [["SKILL.md", 3, "0" * 64]]
    assert Version.objects.get().manifest == (entry,)


def test_draft_without_files_has_an_empty_manifest() -> None:
    assert Draft().manifest == Draft().base_manifest == ()
