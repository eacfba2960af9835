"""Cached skills are read again only if a stat signature changed."""

import os
from pathlib import Path
from typing import Any

import pytest

from registry.remote import directories, stat_cache
from registry.remote.cache import Cache
from registry.remote.cache_records import Record, Records
from tests.conftest import skill_bundle
from tests.remote.cached import WEB, records_of, version_directory


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
    assert reads == [version_directory(root)]
    assert cache.find("a", "1", origin=WEB) is first
    assert Cache(root).find("a", "1", origin=WEB) is first
    assert reads == [version_directory(root)]


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
    _changes(version_directory(root), change)
    assert cache.find("a", "1", origin=WEB) is None


def test_an_added_or_removed_record_is_noticed(cache: Cache, root: Path, reads: list[Path]) -> None:
    bundle = skill_bundle("a")
    cache.keep("a", "1", bundle, origin=WEB)
    assert cache.find("a", "1", origin="s3://b-1/a")
    os.utime(records_of(root)[0].parent, (1e9, 1e9))
    Records(root / "skills" / "a", "1").write(Record("s3://b-1/a", bundle.digest, "d", 1))
    found = cache.find("a", "1", origin="s3://b-1/a")
    assert found is not None
    assert found.origin == "s3://b-1/a"


def test_recently_changed_files_are_read_again(cache: Cache, root: Path, reads: list[Path]) -> None:
    stat_cache._TICK_NS = 10**12
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    for _ in range(3):
        cache.find("a", "1", origin=WEB)
    assert len(reads) == 3
