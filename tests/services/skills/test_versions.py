"""Versions: history, restore and withdraw."""

from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.models import Project, Skill, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import bundles, skills, versions
from tests.conftest import on_disk, skill_bundle
from tests.remembered import remembered
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bundled(library: Path) -> None:
    on_disk(library, body="Bundled.")


@pytest.fixture
@remembered
def three(project: Project, author: Actor) -> list[Version]:
    """Versions 1 to 3 of greeting, oldest first."""
    made = [skills.create(project, skill_bundle(body="Text 1.", files={"a.txt": b"1"}), by=author).version]
    for number in (2, 3):
        bundle = skill_bundle(body=f"Text {number}.", files={"a.txt": b"%d" % number})
        made.append(skills.save(project, "greeting", bundle, base=made[-1].digest, by=author).version)
    return made


def current(project: Project) -> str | None:
    version = Skill.objects.get(project=project, name="greeting").current
    return version.version if version else None


def left_out(project: Project) -> list[tuple[str, str]]:
    revision = Project.objects.get(pk=project.pk).revision
    return [(one.name, one.code) for one in catalog.view(project.pk, revision).diagnostics]


def test_history_is_newest_first(project: Project, three: list[Version]) -> None:
    assert [version.version for version in versions.history(project, " Greeting ")] == ["3", "2", "1"]


@pytest.mark.parametrize("name", ["nothing", "bundled-one", ""])
def test_a_skill_without_project_versions_has_no_history(project: Project, library: Path, name: str) -> None:
    on_disk(library, "bundled-one")
    with pytest.raises(NotFound):
        versions.history(project, name)


# -- Restore -----------------------------------------------------------------------------------------------


def test_a_restored_version_is_a_new_one_with_the_old_bytes(
    project: Project, three: list[Version], author: Actor
) -> None:
    restored = versions.restore(project, "greeting", "1", by=author)
    assert (restored.version, restored.digest, restored.note) == ("4", three[0].digest, "Restored version 1")
    assert catalog.load(project.pk, "greeting").bundle() == skill_bundle(body="Text 1.", files={"a.txt": b"1"})


def test_restoring_a_version_restores_a_deleted_skill(project: Project, three: list[Version], author: Actor) -> None:
    skills.delete(project, "greeting", by=author)
    assert versions.restore(project, "greeting", "2", note="Needed after all", by=author).version == "4"
    assert catalog.load(project.pk, "greeting").candidate.version == "4"


@pytest.mark.parametrize(("name", "version"), [("greeting", "4"), ("greeting", " 1"), ("greeting", ""), ("other", "1")])
def test_a_missing_version_cannot_be_restored(
    project: Project, three: list[Version], author: Actor, name: str, version: str
) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        versions.restore(project, name, version, by=author)


def test_a_version_of_another_project_cannot_be_restored(
    project: Project, three: list[Version], other_project: Project, operator: Actor
) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        versions.restore(other_project, "greeting", "1", by=operator)


def test_a_restore_with_a_note_that_is_too_long_is_refused(
    project: Project, three: list[Version], author: Actor
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        versions.restore(project, "greeting", "1", note="x" * 301, by=author)


def test_a_version_with_missing_blobs_is_not_restored(project: Project, author: Actor, blob_directory: Path) -> None:
    bundle = skill_bundle("lost", body="Seen by no cache.")
    skills.create(project, bundle, by=author)
    digest = next(entry.digest for entry in bundle.manifest if entry.path == SKILL_MD)
    (blob_directory / digest[:2] / digest).unlink()
    with nothing_left_behind(), pytest.raises(NotFound, match="missing from this server’s storage"):
        versions.restore(project, "lost", "1", by=author)


def test_damaged_blobs_are_never_served(project: Project, author: Actor, blob_directory: Path) -> None:
    bundle = skill_bundle("damaged", body="Seen by no cache either.")
    skills.create(project, bundle, by=author)
    digest = bundle.manifest[0].digest
    (blob_directory / digest[:2] / digest).write_bytes(b"something else")
    with pytest.raises(NotFound, match="is damaged"):
        catalog.load(project.pk, "damaged").skill_md()


# -- Yank --------------------------------------------------------------------------------------------------


def test_after_a_yank_the_newest_remaining_version_is_current(
    project: Project, three: list[Version], author: Actor
) -> None:
    versions.yank(project, "greeting", "3", reason="Wrong price.", by=author)
    assert current(project) == "2"
    assert catalog.load(project.pk, "greeting").candidate.digest == three[1].digest


def test_yanking_an_old_version_leaves_the_current_one(project: Project, three: list[Version], author: Actor) -> None:
    versions.yank(project, "greeting", "1", reason="Old.", by=author)
    assert current(project) == "3"


def test_a_yanked_version_is_not_served_on_any_path(project: Project, three: list[Version], author: Actor) -> None:
    versions.yank(project, "greeting", "3", reason="Wrong price.", by=author)
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting", version="3")
    with nothing_left_behind(), pytest.raises(NotFound, match=r"was withdrawn: Wrong price\."):
        versions.restore(project, "greeting", "3", by=author)


def test_with_all_versions_yanked_the_skill_is_left_out_and_the_built_in_one_stays_hidden(
    bundled: None, project: Project, three: list[Version], author: Actor
) -> None:
    for version in three:
        versions.yank(project, "greeting", version.version, reason="Wrong.", by=author)
    assert current(project) is None
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting")
    assert left_out(project) == [("greeting", "every-version-yanked")]
    skills.delete(project, "greeting", by=author)
    assert catalog.load(project.pk, "greeting").candidate.source == "bundled"
    assert left_out(project) == []


def test_a_save_after_every_version_was_yanked_serves_again(
    project: Project, three: list[Version], author: Actor
) -> None:
    for version in three:
        versions.yank(project, "greeting", version.version, reason="Wrong.", by=author)
    saved = skills.save(project, "greeting", skill_bundle(body="Right."), base=None, by=author)
    assert saved.version.version == "4"
    assert left_out(project) == []


def test_yanking_the_current_version_of_a_deleted_skill_undeletes_to_the_one_before(
    project: Project, three: list[Version], author: Actor
) -> None:
    skills.delete(project, "greeting", by=author)
    versions.yank(project, "greeting", "3", reason="Wrong.", by=author)
    assert skills.undelete(project, "greeting", by=author).version == "2"


# -- Deletion ----------------------------------------------------------------------------------------------


@pytest.fixture
def recreated(project: Project, three: list[Version], author: Actor) -> Version:
    """Version 4 of greeting, created after versions 1 to 3 were deleted."""
    skills.delete(project, "greeting", by=author)
    return skills.create(project, skill_bundle(body="Text 4."), by=author).version


def test_a_yank_does_not_bring_back_a_version_from_before_a_deletion(
    project: Project, recreated: Version, author: Actor
) -> None:
    versions.yank(project, "greeting", "4", reason="Wrong price.", by=author)
    assert current(project) is None
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting")
    assert left_out(project) == [("greeting", "every-version-yanked")]


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_a_deleted_version_is_not_served_by_its_number(project: Project, recreated: Version, version: str) -> None:
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting", version=version)


def test_a_yank_chooses_among_the_versions_since_the_deletion(
    project: Project, recreated: Version, author: Actor
) -> None:
    skills.save(project, "greeting", skill_bundle(body="Text 5."), base=recreated.digest, by=author)
    versions.yank(project, "greeting", "5", reason="Wrong price.", by=author)
    assert current(project) == "4"


def test_a_restored_version_takes_over_after_a_yank(project: Project, recreated: Version, author: Actor) -> None:
    restored = versions.restore(project, "greeting", "2", by=author)
    skills.save(project, "greeting", skill_bundle(body="Text 6."), base=restored.digest, by=author)
    versions.yank(project, "greeting", "6", reason="Wrong price.", by=author)
    assert current(project) == restored.version


def test_undoing_a_deletion_brings_back_only_the_versions_that_it_deleted(
    project: Project, recreated: Version, author: Actor
) -> None:
    skills.save(project, "greeting", skill_bundle(body="Text 5."), base=recreated.digest, by=author)
    skills.delete(project, "greeting", by=author)
    assert skills.undelete(project, "greeting", by=author).version == "5"
    versions.yank(project, "greeting", "5", reason="Wrong.", by=author)
    assert current(project) == "4"
    versions.yank(project, "greeting", "4", reason="Wrong.", by=author)
    assert current(project) is None


def test_a_deletion_is_not_undone_with_a_version_from_an_earlier_one(
    project: Project, recreated: Version, author: Actor
) -> None:
    skills.delete(project, "greeting", by=author)
    versions.yank(project, "greeting", "4", reason="Wrong.", by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="were withdrawn or are in quarantine"):
        skills.undelete(project, "greeting", by=author)


def test_importing_the_bytes_of_a_deleted_version_serves_that_version_only(project: Project, operator: Actor) -> None:
    one, two = (skill_bundle(body=f"Text {number}.", metadata={"version": f"v{number}"}) for number in (1, 2))
    for bundle in (one, two):
        bundles.import_bundle(project, bundle, by=operator)
    skills.delete(project, "greeting", by=operator)
    bundles.import_bundle(project, one, by=operator)
    assert current(project) == "v1"
    versions.yank(project, "greeting", "v1", reason="Wrong.", by=operator)
    assert current(project) is None


def test_yanking_twice_is_refused(project: Project, three: list[Version], author: Actor) -> None:
    versions.yank(project, "greeting", "2", reason="Wrong.", by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match="already withdrawn"):
        versions.yank(project, "greeting", "2", reason="Still wrong.", by=author)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 301])
def test_a_yank_needs_a_reason_of_reasonable_length(
    project: Project, three: list[Version], author: Actor, reason: str
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        versions.yank(project, "greeting", "3", reason=reason, by=author)


@pytest.mark.parametrize(("name", "version"), [("greeting", "9"), ("nothing", "1"), ("bundled-one", "1.0")])
def test_a_missing_version_cannot_be_yanked(
    project: Project, library: Path, three: list[Version], author: Actor, name: str, version: str
) -> None:
    on_disk(library, "bundled-one", metadata={"version": "1.0"})
    with nothing_left_behind(), pytest.raises(NotFound):
        versions.yank(project, name, version, reason="Wrong.", by=author)


def test_versions_are_matched_exactly(project: Project, three: list[Version]) -> None:
    for near in ("01", "1.0", "3 ", "v3", "latest", ""):
        with pytest.raises(NotFound):
            catalog.load(project.pk, "greeting", version=near)
