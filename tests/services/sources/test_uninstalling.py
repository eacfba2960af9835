"""Uninstalling: only imported skills, and only edits that were seen."""

import pytest

from registry.core.errors import NotFound, PreconditionRequired, Stale
from registry.models import Installation, Project, Source, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import skills, versions
from registry.services.sources import uninstalling
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill
from tests.services.footprint import nothing_left_behind
from tests.services.sources.importing import Change, Import, current, edit, state


def test_uninstalling_removes_the_skill_and_keeps_the_history(
    project: Project, source: Source, author: Actor, import_greeting: Import
) -> None:
    create_skill(project, skill_bundle("other"), by=author)
    import_greeting()
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.status, done.skill, done.version) == ("uninstalled", "greeting", "")
    assert catalog.find(project.pk, "greeting") is None
    assert catalog.find(project.pk, "other") is not None
    assert len(versions.history(project, "greeting")) == 1
    assert state(source) == "available"
    assert import_greeting().status == "imported"
    assert Version.objects.filter(skill__name="greeting").count() == 2


def test_uninstalling_restores_the_version_from_before_the_import(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    import_greeting(on_conflict="version")
    changed("Newer.")
    import_greeting()
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.version, done.digest) == ("4", mine.digest)
    assert current(project).digest == mine.digest
    assert not Installation.objects.exists()


def test_uninstalling_an_edited_skill_needs_the_seen_digest(
    project: Project, source: Source, author: Actor, import_greeting: Import
) -> None:
    import_greeting()
    mine = edit(project, "My own.", author)
    with nothing_left_behind(), pytest.raises(PreconditionRequired, match="edited here") as refused:
        uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert refused.value.data == {"digest": mine.digest}
    with nothing_left_behind(), pytest.raises(Stale):
        uninstalling.uninstall(project, source.pk, "greeting", seen="sha256:0", by=author)
    assert uninstalling.uninstall(project, source.pk, "greeting", seen=mine.digest, by=author).status == "uninstalled"


def test_a_manual_skill_of_the_same_name_cannot_be_uninstalled(project: Project, source: Source, author: Actor) -> None:
    create_skill(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="no skill"):
        uninstalling.uninstall(project, source.pk, "greeting", by=author)


def test_a_new_skill_with_the_name_of_a_deleted_one_has_no_provenance(
    project: Project, source: Source, author: Actor, import_greeting: Import
) -> None:
    import_greeting()
    delete_skill(project, "greeting", by=author)
    assert state(source) == "available"
    create_skill(project, skill_bundle(body="Mine."), by=author)
    assert state(source) == "available"
    with nothing_left_behind(), pytest.raises(NotFound):
        uninstalling.uninstall(project, source.pk, "greeting", by=author)


def test_a_restored_skill_keeps_its_provenance(
    project: Project, source: Source, author: Actor, import_greeting: Import
) -> None:
    import_greeting()
    delete_skill(project, "greeting", by=author)
    skills.undelete(project, "greeting", by=author)
    assert state(source) == "installed"
