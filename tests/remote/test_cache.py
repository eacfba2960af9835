"""The cache of resolved skills: each is stored whole, from one origin, and never served after a change on disk."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, InvalidRequest, InvalidSkill, NotFound, TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.core.resolve.definitions import INLINE
from registry.remote.cache import Cache
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
    cache.keep_by_digest("b", "1", skill_bundle("b"), origin=INLINE)
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
        lambda: cache.read(name, number, SKILL_MD, digest=skill_bundle("a").digest),
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
        cache.read("a", "1", "x.md", digest=bundle.digest)
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


# -- Skills under their digest -----------------------------------------------------------------------------


def digest_directory(root: Path, bundle: Bundle, name: str = "a") -> Path:
    return root / "digests" / bundle.digest.removeprefix("sha256:") / name


def test_texts_of_one_name_and_version_are_stored_side_by_side(cache: Cache, root: Path) -> None:
    fetched = cache.keep("a", "1", skill_bundle("a", {"scripts/run.sh": b"old"}), origin=WEB)
    for body in ("one", "two", "two", "one"):
        bundle = skill_bundle("a", body=body)
        made = cache.keep_by_digest("a", "1", bundle, origin=INLINE)
        assert (made.digest, made.origin, made.directory) == (bundle.digest, INLINE, digest_directory(root, bundle))
        assert read_files(made.directory) == dict(bundle)
        assert cache.find_by_digest("a", "1", bundle.digest) == made
        assert cache.find("a", "1") == fetched
    assert len(list((root / "digests").iterdir())) == 2
    assert leftovers(root) == []


@pytest.mark.parametrize("broken", [_nothing, _no_skill_md, _a_file, _a_link, _a_link_inside])
def test_a_place_of_a_digest_with_other_content_is_repaired(
    cache: Cache, root: Path, broken: Callable[[Path], None]
) -> None:
    text = skill_bundle("a")
    place = digest_directory(root, text)
    broken(place)
    assert cache.find_by_digest("a", "1", text.digest) is None
    cache.keep_by_digest("a", "1", text, origin=INLINE)
    assert read_files(place) == dict(text)
    assert not place.is_symlink()


def test_content_that_does_not_match_its_digest_is_neither_found_nor_read(cache: Cache, root: Path) -> None:
    """Not even if somebody placed it there with a record of its own."""
    text = skill_bundle("a")
    made = cache.keep_by_digest("a", "1", text, origin=INLINE)
    (made.directory / SKILL_MD).write_bytes(skill_bundle("a", body="other")[SKILL_MD])
    assert cache.find_by_digest("a", "1", text.digest) is None
    assert cache.load("a", "1", digest=text.digest, origin=INLINE) is None
    with pytest.raises(Conflict):
        cache.read("a", "1", SKILL_MD, digest=text.digest)
    for record in made.directory.parent.rglob("*.json"):
        record.unlink()
    assert cache.find_by_digest("a", "1", text.digest) is None


def test_text_that_is_not_a_skill_is_not_stored_unless_the_cache_is_lenient(cache: Cache, root: Path) -> None:
    odd = Bundle({SKILL_MD: b"no header"})
    with pytest.raises(InvalidSkill):
        cache.keep_by_digest("a", "1", odd, origin=INLINE)
    assert not (root / "digests").exists()
    assert Cache(root, lenient=True).keep_by_digest("a", "1", odd, origin=INLINE).description == ""


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "a" * 63, "sha256:" + "A" * 64, "md5:1", "../../x"])
def test_an_invalid_digest_is_refused(cache: Cache, digest: str) -> None:
    with pytest.raises(InvalidRequest, match="digest"):
        cache.find_by_digest("a", "1", digest)


# -- Whole skills of a known digest ------------------------------------------------------------------------


def test_a_whole_skill_is_loaded_for_its_digest_and_origin_only(cache: Cache, root: Path) -> None:
    bundle = skill_bundle("a", {"x.bin": bytes(range(256))})
    copy = cache.keep("a", "1", bundle, origin=WEB)
    assert cache.load("a", "1", digest=bundle.digest, origin=WEB) == (copy, bundle)
    assert cache.load("a", "1", digest=bundle.digest, origin="https://other.example.org/") is None
    assert cache.load("a", "1", digest=skill_bundle("a").digest, origin=WEB) is None
    stored = cache.keep_by_digest("a", "1", bundle, origin="https://other.example.org/")
    assert cache.load("a", "1", digest=bundle.digest, origin="https://other.example.org/") == (stored, bundle)


def test_a_skill_placed_by_hand_is_loaded_for_every_origin(cache: Cache, root: Path) -> None:
    text = skill_text("a").encode()
    by_hand(root, SKILL__md=text)
    found = cache.load("a", "1", digest=Bundle({SKILL_MD: text}).digest, origin=WEB)
    assert found is not None
    assert found[1] == Bundle({SKILL_MD: text})


# -- Reading a file ----------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_cached_skill_it_belongs_to(cache: Cache) -> None:
    bundle = skill_bundle("a", {"x.md": b"x"})
    cache.keep("a", "1", bundle, origin=WEB)
    copy, content = cache.read("a", "1", "x.md", digest=bundle.digest)
    assert (copy.digest, content) == (bundle.digest, b"x")
    assert cache.read("a", "1", SKILL_MD, digest=bundle.digest)[1] == bundle[SKILL_MD]


def test_a_file_of_another_digest_is_a_conflict(cache: Cache) -> None:
    one, two, text = (skill_bundle("a", body=body) for body in ("one", "two", "text"))
    cache.keep("a", "1", two, origin=WEB)
    with pytest.raises(Conflict, match="changed since"):
        cache.read("a", "1", SKILL_MD, digest=one.digest)
    cache.keep_by_digest("a", "1", text, origin=INLINE)
    for bundle in (two, text):
        assert cache.read("a", "1", SKILL_MD, digest=bundle.digest)[1] == bundle[SKILL_MD]


@pytest.mark.parametrize("path", ["y.md", "skill.md", "x.md/z"])
def test_a_file_that_is_not_there_is_not_found(cache: Cache, path: str) -> None:
    digest = cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB).digest
    with pytest.raises(NotFound, match="has no file"):
        cache.read("a", "1", path, digest=digest)


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "~", "a/../../b", "a\\b", "x.md/"])
def test_a_path_that_leaves_the_cached_skill_is_refused(cache: Cache, path: str) -> None:
    digest = cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB).digest
    with pytest.raises(UnsafePath):
        cache.read("a", "1", path, digest=digest)


def test_a_file_of_a_skill_that_was_never_resolved_is_not_found(cache: Cache) -> None:
    with pytest.raises(NotFound, match="is not in the cache"):
        cache.read("a", "1", SKILL_MD, digest=skill_bundle("a").digest)
