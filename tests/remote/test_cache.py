"""The cache of resolved skills: each is stored whole, from one origin, and never served after a change on disk."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, InvalidSkill, NotFound, TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.remote.cache import INLINE, Cache
from tests.conftest import skill_bundle, skill_text
from tests.directories import read_files
from tests.remote.cached import WEB, by_hand, leftovers, records_of, version_directory


def test_a_cached_skill_is_a_plain_directory_with_its_origin_and_digest_beside_it(cache: Cache, root: Path) -> None:
    bundle = skill_bundle("a", {"scripts/run.sh": b"#!/bin/sh\n", "references/deep/x.md": b"x"})
    kept = cache.keep("a", "1", bundle, origin=WEB)
    assert kept.directory == version_directory(root)
    assert read_files(version_directory(root)) == dict(bundle)
    assert (kept.digest, kept.files, kept.origin) == (bundle.digest, bundle.manifest, WEB)
    assert cache.find("a", "1") == kept
    (record,) = records_of(root)
    assert WEB in record.read_text()
    assert bundle.digest in record.read_text()
    assert leftovers(root) == []


def test_a_cached_skill_is_for_this_user_alone(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a", {"scripts/run.sh": b"x"}), origin=WEB)
    cache.rewrite("b", "1", skill_bundle("b"))
    for path in (root, *root.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_an_unknown_skill_is_not_found_in_the_cache(cache: Cache, root: Path) -> None:
    assert cache.find("a", "1") is None
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    assert cache.find("a", "1.0") is None
    assert cache.find("b", "1") is None


@pytest.mark.parametrize(("name", "number"), [("../a", "1"), ("a", ".."), ("a", ".records"), ("a/b", "1"), ("", "1")])
def test_a_name_or_version_that_leaves_its_directory_is_refused(cache: Cache, name: str, number: str) -> None:
    for act in (
        lambda: cache.find(name, number),
        lambda: cache.keep(name, number, skill_bundle("a"), origin=WEB),
        lambda: cache.rewrite(name, number, skill_bundle("a")),
        lambda: cache.read(name, number, SKILL_MD),
    ):
        with pytest.raises(UnsafePath):
            act()


def test_the_first_stored_skill_stays_and_a_difference_is_logged(
    cache: Cache, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = skill_bundle("a", body="first"), skill_bundle("a", body="second")
    cache.keep("a", "1", first, origin=WEB)
    assert cache.keep("a", "1", second, origin=WEB).digest == first.digest
    assert read_files(version_directory(root)) == dict(first)
    assert "arrived twice with different content" in caplog.text
    assert first.digest in caplog.text
    assert second.digest in caplog.text
    assert (len(records_of(root)), leftovers(root)) == (1, [])


def test_a_cached_skill_that_somebody_placed_by_hand_is_found_and_never_replaced(cache: Cache, root: Path) -> None:
    text = skill_text("a", body="# Original from other process").encode()
    by_hand(root, SKILL__md=text)
    found = cache.find("a", "1")
    assert found is not None
    assert (found.origin, found.digest) == ("", Bundle({SKILL_MD: text}).digest)
    assert cache.keep("a", "1", skill_bundle("a"), origin=WEB).digest == found.digest
    assert read_files(version_directory(root)) == {SKILL_MD: text}


def test_a_directory_placed_by_hand_that_is_not_a_skill_is_refused(cache: Cache, root: Path) -> None:
    by_hand(root, SKILL__md=b"# no header")
    with pytest.raises(InvalidSkill):
        cache.find("a", "1")


def test_a_skill_without_a_name_is_not_named_after_its_version(cache: Cache) -> None:
    bundle = Bundle({SKILL_MD: b"---\ndescription: What it does.\n---\n\nDo it.\n"})
    assert cache.keep("a", "1.0.0", bundle, origin=WEB).description == "What it does."


# -- Directories that are no cached skill ------------------------------------------------------------------


def _nothing(path: Path) -> None:
    path.mkdir(parents=True)


def _no_skill_md(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "notes.md").write_text("half of a skill")


def _a_file(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("not a directory")


def _a_link(path: Path) -> None:
    elsewhere = path.parents[3] / "elsewhere"
    elsewhere.mkdir(parents=True)
    (elsewhere / SKILL_MD).write_text(skill_text("a", body="not ours"))
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)


def _a_link_inside(path: Path) -> None:
    path.mkdir(parents=True)
    (path / SKILL_MD).symlink_to("/etc/passwd")


@pytest.mark.parametrize("broken", [_nothing, _no_skill_md, _a_file, _a_link, _a_link_inside])
def test_a_place_without_a_whole_skill_is_repaired(cache: Cache, root: Path, broken: Callable[[Path], None]) -> None:
    broken(version_directory(root))
    assert cache.find("a", "1") is None
    bundle = skill_bundle("a")
    assert cache.keep("a", "1", bundle, origin=WEB).digest == bundle.digest
    assert read_files(version_directory(root)) == dict(bundle)
    assert not version_directory(root).is_symlink()
    assert leftovers(root) == []


def test_a_cached_skill_whose_bytes_changed_is_not_served_and_is_put_right(
    cache: Cache, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = skill_bundle("a", {"x.md": b"x"})
    cache.keep("a", "1", bundle, origin=WEB)
    (version_directory(root) / "x.md").write_bytes(b"y")
    assert cache.find("a", "1") is None
    assert "changed on disk" in caplog.text
    with pytest.raises(Conflict, match="changed"):
        cache.read("a", "1", "x.md")
    assert cache.keep("a", "1", bundle, origin=WEB).digest == bundle.digest
    assert read_files(version_directory(root)) == dict(bundle)


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_an_added_removed_or_renamed_file_is_a_change(cache: Cache, root: Path, change: str) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB)
    file = version_directory(root) / "x.md"
    {
        "added": lambda: (version_directory(root) / "y.md").write_bytes(b"y"),
        "removed": file.unlink,
        "renamed": lambda: file.rename(version_directory(root) / "z.md"),
    }[change]()
    assert cache.find("a", "1") is None


def test_an_unreadable_directory_is_neither_used_nor_overwritten(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = skill_bundle("a")
    cache.keep("a", "1", bundle, origin=WEB)
    real = os.open

    def refusing(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith(SKILL_MD):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(OSError, match="Input/output"):
        cache.find("a", "1")
    monkeypatch.undo()
    assert read_files(version_directory(root)) == dict(bundle)


def test_a_cached_skill_beyond_the_limits_is_refused(root: Path) -> None:
    by_hand(root, SKILL__md=skill_text("a").encode(), big__bin=b"x" * 2_000)
    for limits in (Limits(file_bytes=1_000), Limits(files=1), Limits(expanded_bytes=2_000)):
        with pytest.raises(TooLarge):
            Cache(root, limits=limits).find("a", "1")


# -- Renames that fail -------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.EXDEV, errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_failed_rename_is_not_mistaken_for_a_lost_race(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def failing(self: Path, target: Path) -> Path:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match=os.strerror(code)):
        cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    monkeypatch.undo()
    assert not version_directory(root).exists()
    assert (leftovers(root), records_of(root)) == ([], [])


def test_a_rename_whose_response_was_lost_counts_as_done(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network volume repeats a request whose answer was lost, and then finds nothing to rename any more."""
    real = Path.rename

    def lost(self: Path, target: Path) -> Path:
        real(self, target)
        raise FileNotFoundError(errno.ENOENT, "gone")

    monkeypatch.setattr(Path, "rename", lost)
    bundle = skill_bundle("a")
    assert cache.keep("a", "1", bundle, origin=WEB).digest == bundle.digest
    monkeypatch.undo()
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == WEB


def test_a_skill_that_was_repaired_meanwhile_is_kept(cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between looking and clearing, another process put a good copy there: it goes back, and is the one that counts."""
    _no_skill_md(version_directory(root))
    theirs, mine = skill_bundle("a", body="theirs"), skill_bundle("a", body="mine")
    real = Path.rename
    done = []

    def meanwhile(self: Path, target: Path) -> Path:
        if self == version_directory(root) and not done:
            done.append(True)
            real(self, self.with_name(".old-0000000000000000"))
            Cache(root).keep("a", "1", theirs, origin=WEB)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", meanwhile)
    assert cache.keep("a", "1", mine, origin=WEB).digest == theirs.digest
    monkeypatch.undo()
    assert read_files(version_directory(root)) == dict(theirs)


# -- Inline text -------------------------------------------------------------------------------------------


def test_inline_text_is_written_and_written_again(cache: Cache, root: Path) -> None:
    for body in ("one", "two", "two", "one"):
        bundle = skill_bundle("a", body=body)
        made = cache.rewrite("a", "1", bundle)
        assert (made.digest, made.origin) == (bundle.digest, INLINE)
        assert read_files(version_directory(root)) == dict(bundle)
        assert cache.find("a", "1") == made
    assert leftovers(root) == []


def test_inline_text_clears_the_files_of_an_earlier_package(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a", {"scripts/run.sh": b"old"}), origin=WEB)
    text = skill_bundle("a", body="new")
    cache.rewrite("a", "1", text)
    assert read_files(version_directory(root)) == {SKILL_MD: text[SKILL_MD]}
    assert not (version_directory(root) / "scripts").exists()
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == INLINE
    assert leftovers(root) == []


@pytest.mark.parametrize("broken", [_nothing, _no_skill_md, _a_file, _a_link, _a_link_inside])
def test_inline_text_replaces_any_content(cache: Cache, root: Path, broken: Callable[[Path], None]) -> None:
    broken(version_directory(root))
    text = skill_bundle("a")
    cache.rewrite("a", "1", text)
    assert read_files(version_directory(root)) == dict(text)
    if (root.parent / "elsewhere").exists():
        assert "not ours" in (root.parent / "elsewhere" / SKILL_MD).read_text()


def test_inline_text_that_is_not_a_skill_keeps_the_cached_skill(cache: Cache, root: Path) -> None:
    good = skill_bundle("a")
    cache.rewrite("a", "1", good)
    with pytest.raises(InvalidSkill):
        cache.rewrite("a", "1", Bundle({SKILL_MD: b"no header"}))
    assert read_files(version_directory(root)) == dict(good)


def test_a_crash_before_inline_text_was_in_place_leaves_the_old_one_whole(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = skill_bundle("a", body="old")
    cache.rewrite("a", "1", old)

    def crash(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        cache.rewrite("a", "1", skill_bundle("a", body="new"))
    monkeypatch.undo()
    assert read_files(version_directory(root)) == dict(old)
    assert cache.find("a", "1") is not None


# -- Reading a file ----------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_cached_skill_it_belongs_to(cache: Cache) -> None:
    bundle = skill_bundle("a", {"x.md": b"x"})
    cache.keep("a", "1", bundle, origin=WEB)
    copy, content = cache.read("a", "1", "x.md", digest=bundle.digest)
    assert (copy.digest, content) == (bundle.digest, b"x")
    assert cache.read("a", "1", SKILL_MD)[1] == bundle[SKILL_MD]


def test_a_file_of_a_cached_skill_that_was_rewritten_since_is_a_conflict(cache: Cache) -> None:
    one, two = skill_bundle("a", body="one"), skill_bundle("a", body="two")
    cache.rewrite("a", "1", one)
    cache.rewrite("a", "1", two)
    with pytest.raises(Conflict, match="changed since"):
        cache.read("a", "1", SKILL_MD, digest=one.digest)
    assert cache.read("a", "1", SKILL_MD, digest=two.digest)[1] == two[SKILL_MD]


@pytest.mark.parametrize("path", ["y.md", "skill.md", "x.md/z"])
def test_a_file_that_is_not_there_is_not_found(cache: Cache, path: str) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB)
    with pytest.raises(NotFound, match="has no file"):
        cache.read("a", "1", path)


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "~", "a/../../b", "a\\b", "x.md/"])
def test_a_path_that_leaves_the_cached_skill_is_refused(cache: Cache, path: str) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB)
    with pytest.raises(UnsafePath):
        cache.read("a", "1", path)


def test_a_file_of_a_skill_that_was_never_resolved_is_not_found(cache: Cache) -> None:
    with pytest.raises(NotFound, match="is not in the cache"):
        cache.read("a", "1", SKILL_MD)
