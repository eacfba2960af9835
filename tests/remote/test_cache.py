"""Copies of skills on a disk that many share: whole or not there, from one origin, and never guessed at."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, InvalidSkill, NotFound, TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.remote import cache_cleanup, cache_records, directories, stat_cache
from registry.remote.cache import INLINE, Cache
from tests.conftest import skill_bundle, skill_text

WEB = "https://skills.example.org/a.zip"
HOUR = 3_600.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "volume"


@pytest.fixture(autouse=True)
def logged_and_quick(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("registry.remote.cache._PAUSE", 0.0)
    with caplog.at_level("WARNING", logger="registry.remote"):
        yield


@pytest.fixture
def cache(root: Path) -> Cache:
    return Cache(root)


def version(root: Path, name: str = "a", number: str = "1") -> Path:
    return root / "skills" / name / number


def by_hand(root: Path, **files: bytes) -> Path:
    directory = version(root)
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name.replace("__", ".")).write_bytes(content)
    return directory


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def leftovers(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".*") if path.name.startswith((".new-", ".old-"))]


def records_of(root: Path, number: str = "1") -> list[Path]:
    return sorted((root / "skills" / "a" / ".records" / number).glob("*.json"))


# -- Keeping and finding -----------------------------------------------------------------------------------


def test_a_cached_skill_is_a_plain_directory_with_its_origin_and_digest_beside_it(cache: Cache, root: Path) -> None:
    bundle = skill_bundle("a", {"scripts/run.sh": b"#!/bin/sh\n", "references/deep/x.md": b"x"})
    kept = cache.keep("a", "1", bundle, origin=WEB)
    assert kept.directory == version(root)
    assert contents(version(root)) == dict(bundle)
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


def test_nothing_is_found_where_nothing_was_kept(cache: Cache, root: Path) -> None:
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
    assert contents(version(root)) == dict(first)
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
    assert contents(version(root)) == {SKILL_MD: text}


def test_a_skill_placed_by_hand_that_is_not_a_skill_says_so(cache: Cache, root: Path) -> None:
    by_hand(root, SKILL__md=b"# no header")
    with pytest.raises(InvalidSkill):
        cache.find("a", "1")


def test_a_skill_without_a_name_is_not_named_after_its_version(cache: Cache) -> None:
    bundle = Bundle({SKILL_MD: b"---\ndescription: What it does.\n---\n\nDo it.\n"})
    assert cache.keep("a", "1.0.0", bundle, origin=WEB).description == "What it does."


# -- What is no copy ---------------------------------------------------------------------------------------


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
    broken(version(root))
    assert cache.find("a", "1") is None
    bundle = skill_bundle("a")
    assert cache.keep("a", "1", bundle, origin=WEB).digest == bundle.digest
    assert contents(version(root)) == dict(bundle)
    assert not version(root).is_symlink()
    assert leftovers(root) == []


def test_a_cached_skill_whose_bytes_changed_is_not_served_and_is_put_right(
    cache: Cache, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = skill_bundle("a", {"x.md": b"x"})
    cache.keep("a", "1", bundle, origin=WEB)
    (version(root) / "x.md").write_bytes(b"y")
    assert cache.find("a", "1") is None
    assert "changed on disk" in caplog.text
    with pytest.raises(Conflict, match="changed"):
        cache.read("a", "1", "x.md")
    assert cache.keep("a", "1", bundle, origin=WEB).digest == bundle.digest
    assert contents(version(root)) == dict(bundle)


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_a_file_more_or_less_is_a_change(cache: Cache, root: Path, change: str) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x.md": b"x"}), origin=WEB)
    file = version(root) / "x.md"
    {
        "added": lambda: (version(root) / "y.md").write_bytes(b"y"),
        "removed": file.unlink,
        "renamed": lambda: file.rename(version(root) / "z.md"),
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
    assert contents(version(root)) == dict(bundle)


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
    assert not version(root).exists()
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
    _no_skill_md(version(root))
    theirs, mine = skill_bundle("a", body="theirs"), skill_bundle("a", body="mine")
    real = Path.rename
    done = []

    def meanwhile(self: Path, target: Path) -> Path:
        if self == version(root) and not done:
            done.append(True)
            real(self, self.with_name(".old-0000000000000000"))
            Cache(root).keep("a", "1", theirs, origin=WEB)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", meanwhile)
    assert cache.keep("a", "1", mine, origin=WEB).digest == theirs.digest
    monkeypatch.undo()
    assert contents(version(root)) == dict(theirs)


# -- Inline text -------------------------------------------------------------------------------------------


def test_inline_text_is_written_and_written_again(cache: Cache, root: Path) -> None:
    for body in ("one", "two", "two", "one"):
        bundle = skill_bundle("a", body=body)
        made = cache.rewrite("a", "1", bundle)
        assert (made.digest, made.origin) == (bundle.digest, INLINE)
        assert contents(version(root)) == dict(bundle)
        assert cache.find("a", "1") == made
    assert leftovers(root) == []


def test_inline_text_clears_the_files_of_an_earlier_package(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a", {"scripts/run.sh": b"old"}), origin=WEB)
    text = skill_bundle("a", body="new")
    cache.rewrite("a", "1", text)
    assert contents(version(root)) == {SKILL_MD: text[SKILL_MD]}
    assert not (version(root) / "scripts").exists()
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == INLINE
    assert leftovers(root) == []


@pytest.mark.parametrize("broken", [_nothing, _no_skill_md, _a_file, _a_link, _a_link_inside])
def test_inline_text_replaces_any_content(cache: Cache, root: Path, broken: Callable[[Path], None]) -> None:
    broken(version(root))
    text = skill_bundle("a")
    cache.rewrite("a", "1", text)
    assert contents(version(root)) == dict(text)
    if (root.parent / "elsewhere").exists():
        assert "not ours" in (root.parent / "elsewhere" / SKILL_MD).read_text()


def test_inline_text_that_is_not_a_skill_leaves_what_was_there(cache: Cache, root: Path) -> None:
    good = skill_bundle("a")
    cache.rewrite("a", "1", good)
    with pytest.raises(InvalidSkill):
        cache.rewrite("a", "1", Bundle({SKILL_MD: b"no header"}))
    assert contents(version(root)) == dict(good)


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
    assert contents(version(root)) == dict(old)
    assert cache.find("a", "1") is not None


def test_records_of_replaced_texts_expire(cache: Cache, root: Path) -> None:
    cache.rewrite("a", "1", skill_bundle("a", body="one"))
    (old,) = records_of(root)
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    assert len(records_of(root)) == 2
    os.utime(old, (0, 0))
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    (new,) = records_of(root)
    assert new != old


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


# -- Looking again without reading -------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Directories that were read and hashed. Here a glance at what changed just now counts."""
    done: list[Path] = []
    real = directories.read

    def counted(directory: Path, **more: Any) -> Any:
        done.append(directory)
        return real(directory, **more)

    monkeypatch.setattr(directories, "read", counted)
    monkeypatch.setattr(stat_cache, "_TICK_NS", -(10**18))
    return done


def test_a_cached_skill_that_did_not_change_is_not_read_again(cache: Cache, root: Path, reads: list[Path]) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x/y.md": b"x"}), origin=WEB)
    first = cache.find("a", "1", origin=WEB)
    assert reads == [version(root)]
    assert cache.find("a", "1", origin=WEB) is first
    assert Cache(root).find("a", "1", origin=WEB) is first
    assert reads == [version(root)]


def _changes(directory: Path, change: str) -> None:
    file = directory / "x" / "y.md"
    if change == "bytes":
        file.write_bytes(b"y")
        os.utime(file, (1e9, 1e9))
    elif change == "more":
        (directory / "x" / "z.md").write_bytes(b"z")
    elif change == "less":
        file.unlink()
    elif change == "replaced":
        fresh = directory.with_name("fresh")
        fresh.write_bytes(b"y")
        fresh.rename(file)
    else:
        directory.rename(directory.with_name(".old-1"))


@pytest.mark.parametrize("change", ["bytes", "more", "less", "replaced", "gone"])
def test_a_cached_skill_that_looks_different_is_read_again(
    cache: Cache, root: Path, reads: list[Path], change: str
) -> None:
    cache.keep("a", "1", skill_bundle("a", {"x/y.md": b"x"}), origin=WEB)
    assert cache.find("a", "1", origin=WEB)
    _changes(version(root), change)
    assert cache.find("a", "1", origin=WEB) is None


def test_a_record_that_comes_or_goes_is_seen(cache: Cache, root: Path, reads: list[Path]) -> None:
    bundle = skill_bundle("a")
    cache.keep("a", "1", bundle, origin=WEB)
    assert cache.find("a", "1", origin=INLINE)
    os.utime(records_of(root)[0].parent, (1e9, 1e9))
    cache.rewrite("a", "1", bundle)
    found = cache.find("a", "1", origin=INLINE)
    assert found is not None
    assert found.origin == INLINE


def test_recently_changed_files_are_read_again(cache: Cache, root: Path, reads: list[Path]) -> None:
    stat_cache._TICK_NS = 10**12
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    for _ in range(3):
        cache.find("a", "1", origin=WEB)
    assert len(reads) == 3


# -- Leftovers and cleaning --------------------------------------------------------------------------------


def _crashed(root: Path, age: float, now: float) -> list[Path]:
    """Leftovers of processes that were killed while writing, replacing, or writing a record."""
    parent = root / "skills" / "a"
    made = [parent / ".new-0123456789abcdef", parent / ".old-0123456789abcdef"]
    for path in made:
        path.mkdir(parents=True)
        (path / "part.md").write_text("half")
    record = parent / ".records" / "1" / ".new-0123456789abcdef"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("{")
    for path in (*made, record):
        os.utime(path, (now - age, now - age))
    return [*made, record]


def test_leftovers_are_no_versions_and_are_ignored(cache: Cache, root: Path) -> None:
    _crashed(root, 0, 1e9)
    assert cache.find("a", "1") is None
    bundle = skill_bundle("a")
    cache.keep("a", "1", bundle, origin=WEB)
    found = cache.find("a", "1")
    assert found is not None
    assert found.digest == bundle.digest


def test_cleaning_removes_leftovers_once_they_are_old_enough(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    now = 2e9
    left = _crashed(root, 10, now)
    assert cache_cleanup.clean(root, clock=lambda: now) == []
    assert all(path.exists() for path in left)
    gone = cache_cleanup.clean(root, clock=lambda: now + HOUR)
    assert {one.path for one in gone} == set(left)
    assert not any(path.exists() for path in left)
    assert sum(one.size for one in gone) == 8
    assert cache.find("a", "1") is not None


def used(root: Path, number: str, at: float) -> None:
    for record in records_of(root, number):
        os.utime(record, (at, at))


@pytest.fixture
def three(cache: Cache, root: Path) -> float:
    """Versions 1, 2 and 3, used 30 days, 2 days and 1 minute ago."""
    now = 2e9
    for number, ago in (("1", 30 * 24 * HOUR), ("2", 48 * HOUR), ("3", 60.0)):
        cache.keep("a", number, skill_bundle("a", body=number), origin=WEB)
        used(root, number, now - ago)
    return now


def versions(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "skills" / "a").iterdir() if not path.name.startswith("."))


def test_nothing_is_pruned_unless_asked_for(root: Path, three: float) -> None:
    assert cache_cleanup.clean(root, clock=lambda: three) == []
    assert versions(root) == ["1", "2", "3"]


def test_versions_are_pruned_by_age_of_their_last_use(root: Path, three: float, cache: Cache) -> None:
    gone = cache_cleanup.clean(root, older_than=7 * 24 * HOUR, clock=lambda: three)
    assert [one.path.name for one in gone] == ["1"]
    assert versions(root) == ["2", "3"]
    assert records_of(root, "1") == []
    assert (cache.find("a", "1"), leftovers(root)) == (None, [])


def test_versions_are_pruned_by_count_the_last_used_stay(root: Path, three: float) -> None:
    cache_cleanup.clean(root, keep=1, clock=lambda: three)
    assert versions(root) == ["3"]


def test_a_version_in_use_is_never_removed(root: Path, three: float) -> None:
    cache_cleanup.clean(root, older_than=1.0, keep=0, in_use=lambda name, number: number == "2", clock=lambda: three)
    assert versions(root) == ["2", "3"]


def test_finding_a_cached_skill_counts_as_using_it(root: Path, cache: Cache) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    used(root, "1", 1e9)
    assert cache_cleanup.last_used(version(root)) == 1e9
    cache.find("a", "1")
    assert cache_cleanup.last_used(version(root)) > 1e9 + HOUR


def test_a_cached_skill_that_was_placed_by_hand_counts_from_then(root: Path) -> None:
    directory = by_hand(root, SKILL__md=skill_text("a").encode())
    os.utime(directory, (1e9, 1e9))
    assert cache_cleanup.clean(root, older_than=HOUR, clock=lambda: 1e9 + 1) == []
    assert [one.path for one in cache_cleanup.clean(root, older_than=HOUR, clock=lambda: 1e9 + 3 * HOUR)] == [directory]


def test_cleaning_removes_only_records_of_removed_content(cache: Cache, root: Path) -> None:
    cache.rewrite("a", "1", skill_bundle("a", body="one"))
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    assert len(records_of(root)) == 2
    cache_cleanup.clean(root, clock=lambda: 4e9)
    assert len(records_of(root)) == 1
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == INLINE


def test_cleaning_an_empty_place_does_nothing(root: Path) -> None:
    assert cache_cleanup.clean(root) == []


def test_a_name_without_versions_goes_as_well(root: Path, three: float) -> None:
    cache_cleanup.clean(root, older_than=0.0, clock=lambda: three + HOUR * 2)
    assert not (root / "skills" / "a").exists()


def test_a_record_that_cannot_be_read_vouches_for_nothing(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    for nonsense in (b"", b"{", b"[]", b"{}", b'{"origin": 1}'):
        record.write_bytes(nonsense)
        assert cache.find("a", "1") is None


def test_a_record_is_about_the_bytes_it_is_named_after(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    said = record.read_text().replace("sha256:", "sha256:0")
    record.write_text(said)
    assert cache.find("a", "1") is None
    assert cache_records.RECORDS in str(record)
