"""Exports into a directory under version control."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from registry.core.archive.export_record import RECORD
from registry.core.errors import Conflict, UnsafePath
from registry.models import Project, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.transfer import export_directory
from tests.conftest import skill_bundle
from tests.directories import read_files
from tests.prepared import create_skill, delete_skill, import_bundle, save_skill


def test_only_changed_files_are_written_again(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = export_directory.write(mixed, out, by=operator)
    assert (first.skills, first.files, first.removed) == (4, 7, ())
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert export_directory.write(mixed, out, by=operator).files == 0
    digest = catalog.get(mixed.pk, "named").winner.digest  # type: ignore[union-attr]
    save_skill(mixed, "named", skill_bundle("named", body="New."), base=digest, by=operator)
    assert export_directory.write(mixed, out, by=operator).files == 2
    after = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert {path.relative_to(out).as_posix() for path in after if before[path] != after[path]} == {
        RECORD, "named/SKILL.md",
    }  # fmt: skip


def test_an_export_that_fails_leaves_no_half_file(
    mixed: Project, operator: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    export_directory.write(mixed, out, by=operator)
    record = out / RECORD
    record.write_bytes(before := record.read_bytes() + b"\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        export_directory.write(mixed, out, by=operator)
    assert record.read_bytes() == before
    assert [path.name for path in out.glob(".new-*")] == []


def test_only_the_directory_of_a_deleted_skill_is_removed(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    export_directory.write(mixed, out, by=operator)
    (out / "README.md").write_bytes(b"ours")
    (out / "notes").mkdir()
    (out / "notes/a").write_bytes(b"ours")
    (out / "greeting/stray/deep").mkdir(parents=True)
    (out / "greeting/stray/deep/x").write_bytes(b"left over")
    (tmp_path / "outside").write_bytes(b"keep")
    (out / "greeting/link").symlink_to(tmp_path / "outside")
    delete_skill(mixed, "named", by=operator)
    assert export_directory.write(mixed, out, by=operator).removed == ("named",)
    assert sorted(read_files(out)) == [
        ".gitattributes", RECORD, "README.md", "covered/SKILL.md", "greeting/SKILL.md", "greeting/b", "notes/a",
        "off/SKILL.md",
    ]  # fmt: skip
    assert not (out / "greeting/stray").exists()
    assert (tmp_path / "outside").read_bytes() == b"keep"


def test_a_file_can_become_a_directory_and_back(project: Project, operator: Actor, tmp_path: Path) -> None:
    first = create_skill(project, skill_bundle(files={"a": b"1", "b/c": b"2"}), by=operator).version
    export_directory.write(project, tmp_path / "out", by=operator)
    bundle = skill_bundle(files={"a/d": b"3", "b": b"4"})
    save_skill(project, "greeting", bundle, base=first.digest, by=operator)
    export_directory.write(project, tmp_path / "out", by=operator)
    assert read_files(tmp_path / "out/greeting") == dict(bundle)


def test_git_does_not_change_line_endings(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    export_directory.write(mixed, tmp_path / "out", by=operator)
    assert (tmp_path / "out/.gitattributes").read_bytes() == b"* -text\n"
    (tmp_path / "out/.gitattributes").write_bytes(b"# ours\n")
    export_directory.write(mixed, tmp_path / "out", by=operator)
    assert (tmp_path / "out/.gitattributes").read_bytes() == b"# ours\n"


def test_a_directory_that_is_not_an_export_is_refused(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "greeting").mkdir(parents=True)
    with pytest.raises(Conflict, match="is not empty and has no"):
        export_directory.write(mixed, mine, by=operator)
    (mine / "file").write_bytes(b"")
    with pytest.raises(Conflict, match="is a file"):
        export_directory.write(mixed, mine / "file", by=operator)
    assert sorted(path.name for path in mine.rglob("*")) == ["file", "greeting"]


@pytest.mark.parametrize("how", ["directory", "link", "file"])
def test_files_of_others_are_not_overwritten(mixed: Project, operator: Actor, tmp_path: Path, how: str) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    export_directory.write(mixed, out, by=operator)
    mine.mkdir()
    (mine / "a").write_bytes(b"ours")
    create_skill(mixed, skill_bundle("newcomer"), by=operator)
    target = out / "newcomer"
    if how == "directory":
        mine.rename(target)
    elif how == "link":
        target.symlink_to(mine)
    else:
        target.write_bytes(b"ours")
    before = read_files(tmp_path)
    with pytest.raises(Conflict, match="exists and is not from an export"):
        export_directory.write(mixed, out, by=operator)
    assert read_files(tmp_path) == before


@pytest.mark.parametrize("path", [".git/config", "deep/.GIT/hooks/x", "GIT~1/x"])
def test_files_that_git_treats_as_its_own_are_refused(
    project: Project, operator: Actor, tmp_path: Path, path: str
) -> None:
    """A version from before such paths were refused."""
    version = import_bundle(project, skill_bundle(files={"a": b"x"}), by=operator).version
    renamed = [replace(entry, path=path) if entry.path == "a" else entry for entry in version.manifest]
    Version.objects.filter(pk=version.pk).update(manifest=tuple(renamed))
    with pytest.raises(UnsafePath, match="cannot be used"):
        export_directory.write(project, tmp_path / "out", by=operator)
    assert not (tmp_path / "out").exists()
