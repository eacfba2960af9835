"""Pulls into directories with other files: local edits are kept, and `check` only reports."""

from pathlib import Path

import pytest

from registry.client import SkillsiteClient, files
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from registry.models import Project
from registry.services.permissions import Actor
from tests.client.pulls import Save, lock_of, names_in, said
from tests.prepared import delete_skill


def test_a_local_edit_is_kept_and_named(client: SkillsiteClient, target: Path, save: Save) -> None:
    digest = save("own", "first")
    pull(client, target)
    (target / "own/SKILL.md").write_text("Mine.")
    save("own", "second", base=digest)
    report = pull(client, target)
    assert said(report.kept) == ["! own: its files were edited here"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert lock_of(target)["skills"]["own"]["version"] == "1"


@pytest.mark.parametrize("edit", ["added", "deleted", "link", "linked-directory"])
def test_every_kind_of_local_edit_is_detected(client: SkillsiteClient, target: Path, save: Save, edit: str) -> None:
    save("own", files={"references/a.md": b"A"})
    pull(client, target)
    own = target / "own"
    if edit == "added":
        (own / "notes.md").write_text("")
    elif edit == "deleted":
        (own / "references/a.md").unlink()
    elif edit == "link":
        (own / "references/a.md").unlink()
        (own / "references/a.md").symlink_to("/etc/hostname")
    else:
        (own / "linked").symlink_to("/etc")
    assert said(check(client, target)) == ["! own: its files were edited here"]


def test_a_locally_edited_skill_that_was_deleted_on_the_site_stays(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    digest = save("own")
    pull(client, target)
    (target / "own/SKILL.md").write_text("Mine.")
    delete_skill(project, "own", base=digest, by=author)
    for force in (False, False, True):
        report = pull(client, target, force=force)
        assert said(report.kept) == [
            "! own: removed from the project, but its files were edited here; delete it yourself"
        ]
    assert (target / "own/SKILL.md").read_text() == "Mine."


def test_a_directory_that_no_pull_installed_is_never_changed(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    (target / "own").mkdir(parents=True)
    (target / "own/SKILL.md").write_text("Mine.")
    (target / "private").mkdir()
    (target / "notes.txt").write_text("Mine too.")
    assert said(pull(client, target).kept) == ["! own: it was not installed by a pull"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert names_in(target) == ["notes.txt", "own", "private", LOCK]
    assert said(pull(client, target, force=True).done) == ["+ own 1"]
    assert (target / "own/SKILL.md").read_text() != "Mine."
    assert names_in(target) == ["notes.txt", "own", "private", LOCK]


def test_an_identical_directory_that_no_pull_installed_is_not_locked(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    digest = save("own")
    pull(client, target)
    (target / LOCK).unlink()
    assert pull(client, target).complete
    delete_skill(project, "own", base=digest, by=author)
    pull(client, target)
    assert (target / "own/SKILL.md").is_file()


def test_a_link_at_the_path_of_a_skill_is_not_followed(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    elsewhere = target.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("1")
    target.mkdir()
    (target / "own").symlink_to(elsewhere)
    assert said(pull(client, target).kept) == ["! own: it was not installed by a pull"]
    assert pull(client, target, force=True).complete
    assert not (target / "own").is_symlink() and (target / "own/SKILL.md").is_file()
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]


def test_by_products_of_scripts_are_not_local_edits(client: SkillsiteClient, target: Path, save: Save) -> None:
    digest = save("own", "first")
    pull(client, target)
    (target / "own/scripts/__pycache__").mkdir(parents=True)
    (target / "own/scripts/__pycache__/run.cpython-312.pyc").write_bytes(b"\0")
    (target / "own/.DS_Store").write_bytes(b"\0")
    assert not check(client, target)
    save("own", "second", base=digest)
    assert said(pull(client, target).done) == ["~ own 1 → 2"]


def test_check_reports_differences_and_changes_nothing(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    first, gone = save("changes", "first"), save("goes")
    pull(client, target)
    assert not check(client, target)
    save("changes", "second", base=first)
    save("comes")
    delete_skill(project, "goes", base=gone, by=author)
    before = files.read_tree(target)
    assert said(check(client, target)) == ["~ changes 1 → 2", "+ comes 1", "- goes"]
    assert files.read_tree(target) == before


def test_check_does_not_create_a_missing_directory(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    assert said(check(client, target)) == ["+ own 1"]
    assert not target.exists()
