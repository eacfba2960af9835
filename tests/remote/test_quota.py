"""The disk space of a cache: in sum, for each token, and what is removed to stay within it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.remote import cache_cleanup, quota
from registry.remote.budget import Exceeded
from registry.remote.cache import Cache, charge
from registry.remote.quota import Quota
from tests.conftest import skill_bundle
from tests.remote.cached import WEB
from tests.remote.conftest import Resolve
from tests.remote.entries import TEXT, entry, inline
from tests.remote.web import Web

KIB = 1024
SIZE = charge(skill_bundle("a"))
HOUR = 3_600.0


@pytest.fixture(autouse=True)
def fresh(root: Path) -> Iterator[None]:
    yield
    quota.forget(root)


def test_a_copy_counts_at_least_64_kib_and_each_file_a_block() -> None:
    assert SIZE == 64 * KIB
    files = {f"{number}.txt": b"x" for number in range(100)}
    assert charge(skill_bundle("a", files)) > 101 * 4 * KIB


def test_a_token_that_stored_too_much_stores_no_more(resolve: Resolve, web: Web, root: Path) -> None:
    mine = Quota(root, "1", most=10 * SIZE, each=2 * SIZE)
    results = resolve(
        inline(), inline(name="b"), inline(name="c"), entry(web.put("/d.md", TEXT), name="d"), quota=mine, by="1"
    )
    assert [one.status for one in results] == ["loaded", "loaded", "skipped", "skipped"]
    for one in results[2:]:
        assert "This token has 131,072 bytes" in one.reason
        assert "allowed 131,072" in one.reason
        assert "RESOLVE_TOKEN_BYTES" in one.reason
    assert web.asked == [], "a token without room does not download"
    again = resolve(inline(), inline(name="b"), quota=mine, by="1")
    assert [one.status for one in again] == ["loaded", "loaded"], "copies that exist need no room"
    others = resolve(inline(name="c"), quota=Quota(root, "2", most=10 * SIZE, each=2 * SIZE), by="2")
    assert [one.status for one in others] == ["loaded"]


def test_a_project_that_stored_too_much_stores_no_more(resolve: Resolve, root: Path) -> None:
    for number in range(3):
        mine = Quota(root, str(number), most=3 * SIZE, each=2 * SIZE)
        assert resolve(inline(name=f"a-{number}"), quota=mine, by=str(number))[0].status == "loaded"
    (found,) = resolve(inline(name="b"), quota=Quota(root, "4", most=3 * SIZE, each=2 * SIZE), by="4")
    assert "This project has 196,608 bytes" in found.reason
    assert "RESOLVE_PROJECT_BYTES" in found.reason


def test_a_download_that_does_not_fit_is_not_stored(resolve: Resolve, web: Web, root: Path) -> None:
    small = Quota(root, "1", most=10 * SIZE, each=SIZE - 1)
    (found,) = resolve(entry(web.put("/a.md", TEXT)), quota=small, by="1")
    assert "RESOLVE_TOKEN_BYTES" in found.reason
    assert not (root / "skills").exists()


def test_what_other_processes_store_is_counted_after_a_while(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Quota(root, "1", most=10 * SIZE, each=SIZE)
    mine.check()
    Cache(root, by="1").keep("a", "1", skill_bundle("a"), origin=WEB)
    mine.check()
    monkeypatch.setattr(quota, "_SECONDS", -1.0)
    with pytest.raises(Exceeded):
        mine.check()


def test_copies_placed_by_hand_do_not_count(root: Path) -> None:
    directory = root / "skills" / "a" / "1"
    directory.mkdir(parents=True)
    (directory / "SKILL.md").write_text(TEXT)
    assert list(cache_cleanup.stored_copies(root)) == []


# -- Making room -------------------------------------------------------------------------------------------


@pytest.fixture
def five(root: Path) -> float:
    """Copies 1 to 5, used 5 to 1 days ago. The first three belong to token 1, the others to token 2."""
    now = 2e9
    for number in range(1, 6):
        Cache(root, by="1" if number < 4 else "2").keep("a", str(number), skill_bundle("a"), origin=WEB)
        for record in (root / "skills" / "a" / ".records" / str(number)).iterdir():
            used = now - (6 - number) * 24 * HOUR
            os.utime(record, (used, used))
    return now


def left(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "skills" / "a").iterdir() if not path.name.startswith("."))


def test_the_copies_unused_for_longest_are_removed_first(root: Path, five: float) -> None:
    removed = cache_cleanup.trim(root, most=3 * SIZE, each=10 * SIZE, clock=lambda: five)
    assert [(one.path.name, one.why) for one in removed] == [("1", "over the quota"), ("2", "over the quota")]
    assert left(root) == ["3", "4", "5"]
    assert [copy.path.name for copy in cache_cleanup.stored_copies(root)] == ["3", "4", "5"]


def test_each_token_has_a_limit_of_its_own(root: Path, five: float) -> None:
    cache_cleanup.trim(root, most=10 * SIZE, each=1 * SIZE, clock=lambda: five)
    assert left(root) == ["3", "5"]


def test_copies_used_within_the_last_hours_stay(root: Path, five: float) -> None:
    cache_cleanup.trim(root, most=0, each=0, grace=60 * HOUR, clock=lambda: five)
    assert left(root) == ["4", "5"]


def test_texts_under_their_digest_are_removed_too(resolve: Resolve, root: Path) -> None:
    resolve(inline(), by="1")
    assert len(list(cache_cleanup.stored_copies(root))) == 1
    cache_cleanup.trim(root, most=0, each=0, clock=lambda: 4e9)
    assert list(cache_cleanup.stored_copies(root)) == []
    assert not any(path.is_file() for path in root.rglob("*"))
