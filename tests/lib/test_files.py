"""Durable file operations."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.lib import files


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the name of every file and directory that is flushed to disk."""
    names: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        names.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_atomic_write_flushes_the_content_and_the_name(tmp_path: Path, synced: list[str]) -> None:
    files.write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    content, name = synced
    assert content.startswith(files.TEMPORARY_PREFIX) and name == tmp_path.name


def test_an_atomic_write_that_need_not_last_flushes_nothing(tmp_path: Path, synced: list[str]) -> None:
    files.write_atomically(tmp_path / "file", [b"ne", b"w"], mode=files.PRIVATE_FILE, durable=False)
    assert (tmp_path / "file").read_bytes() == b"new" and mode(tmp_path / "file") == 0o600
    assert synced == []


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def torn() -> Iterator[bytes]:
        yield b"first half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        files.write_atomically(target, torn())
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write_atomically(target, b"new")
    assert list(tmp_path.iterdir()) == [target]


def test_an_atomic_write_prepares_the_file_in_the_staging_directory(tmp_path: Path) -> None:
    staging, target = tmp_path / "staging", tmp_path / "target"
    staging.mkdir()
    target.mkdir()
    target.chmod(0o700)
    seen: list[list[str]] = []

    def content() -> Iterator[bytes]:
        seen.append([path.parent.name for path in tmp_path.glob("*/.mark-*")])
        yield b"new"

    files.write_atomically(target / "file", content(), prefix=".mark-", staging=staging)
    assert seen == [["staging"]]
    assert list(staging.iterdir()) == [] and (target / "file").read_bytes() == b"new"


def test_a_durable_tree_flushes_every_file_and_directory(tmp_path: Path, synced: list[str]) -> None:
    tree = {"SKILL.md": b"1", "a/b/deep.txt": b"2", "a/shallow.txt": b"3"}
    files.write_tree(tmp_path / "tree", tree, private=True, durable=True)
    written = {path.relative_to(tmp_path / "tree").as_posix(): path for path in (tmp_path / "tree").rglob("*")}
    assert {name: path.read_bytes() for name, path in written.items() if path.is_file()} == tree
    assert sorted(synced) == sorted(["SKILL.md", "deep.txt", "shallow.txt", "tree", "a", "b"])
    assert {mode(path) for path in written.values()} == {0o700, 0o600}


def test_a_tree_is_not_written_over_another(tmp_path: Path) -> None:
    files.write_tree(tmp_path / "tree", {"a": b"1"}, private=False, durable=False)
    with pytest.raises(FileExistsError):
        files.write_tree(tmp_path / "tree", {"a": b"2"}, private=False, durable=False)
    assert (tmp_path / "tree/a").read_bytes() == b"1"


def test_a_private_directory_has_private_parents(tmp_path: Path, synced: list[str]) -> None:
    path = files.make_directories(tmp_path / "a/b/c", durable=True)
    assert {mode(one) for one in (path, path.parent, path.parent.parent)} == {0o700}
    assert synced == [tmp_path.name, "a", "b"]


@pytest.mark.parametrize(("number", "raises"), [(22, False), (95, False), (5, True)])
def test_only_a_volume_without_directory_sync_may_skip_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, raises: bool
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    if raises:
        with pytest.raises(OSError, match="Input/output"):
            files.sync_directory(tmp_path)
    else:
        files.sync_directory(tmp_path)


def test_removing_a_link_keeps_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    (target / "inside").mkdir(parents=True)
    link.symlink_to(target)
    files.remove(link)
    assert not link.is_symlink() and (target / "inside").is_dir()
    files.remove(target)
    files.remove(target)
    assert not target.exists()
