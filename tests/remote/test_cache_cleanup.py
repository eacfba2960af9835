"""Cleaning of the cache: leftovers of crashes, and versions that nobody uses."""

import os
from pathlib import Path

import pytest

from registry.remote import cache_cleanup
from registry.remote.cache import Cache
from tests.conftest import skill_bundle, skill_text
from tests.remote.cached import WEB, by_hand, leftovers, records_of, version_directory

HOUR = 3_600.0


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
    assert cache_cleanup.last_used(version_directory(root)) == 1e9
    cache.find("a", "1")
    assert cache_cleanup.last_used(version_directory(root)) > 1e9 + HOUR


def test_the_age_of_a_skill_placed_by_hand_starts_when_it_was_placed(root: Path) -> None:
    directory = by_hand(root, SKILL__md=skill_text("a").encode())
    os.utime(directory, (1e9, 1e9))
    assert cache_cleanup.clean(root, older_than=HOUR, clock=lambda: 1e9 + 1) == []
    assert [one.path for one in cache_cleanup.clean(root, older_than=HOUR, clock=lambda: 1e9 + 3 * HOUR)] == [directory]


def test_cleaning_an_empty_place_does_nothing(root: Path) -> None:
    assert cache_cleanup.clean(root) == []


def test_a_name_without_versions_is_removed(root: Path, three: float) -> None:
    cache_cleanup.clean(root, older_than=0.0, clock=lambda: three + HOUR * 2)
    assert not (root / "skills" / "a").exists()
