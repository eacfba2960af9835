"""A store of derived values never fails: it loses values at most."""

import logging
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from registry.lib.derived_store import DerivedStore, key_of

KEY, OTHER = key_of("a"), key_of("b")
MIB = 1024 * 1024


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: int) -> None:
        self.now += days * 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "routing" / "index.sqlite3"


@pytest.fixture
def store(file: Path, clock: Clock) -> DerivedStore:
    return DerivedStore(file, most_bytes=50 * MIB, clock=clock)


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def test_values_are_found_again_by_another_store(store: DerivedStore, file: Path) -> None:
    values = {key_of(str(number)): b"x" * number for number in range(1_200)}
    store.put(values)
    assert DerivedStore(file, most_bytes=MIB).get([*values, OTHER]) == values
    store.put({KEY: b"old"})
    store.put({KEY: b"new"})
    assert store.get([KEY]) == {KEY: b"new"}
    assert store.get([]) == {}


def test_only_this_user_can_read_the_file(store: DerivedStore, file: Path) -> None:
    store.put({KEY: b"value"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_keys_of_different_parts_differ() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("abc", ""), key_of("\ud800")}) == 5


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to have a header" * 40, b"SQLite format 3\0", b"x"]
)
def test_a_file_that_is_not_a_database_is_replaced(
    store: DerivedStore, file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            store.put({KEY: b"value"})
    assert store.get([KEY]) == {KEY: b"value"}
    assert len(caplog.records) <= 1


def test_a_damaged_page_loses_values_at_most(store: DerivedStore, file: Path) -> None:
    values = {key_of(str(number)): bytes([number % 256]) * 5_000 for number in range(100)}
    store.put(values)
    with opened(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    for start in range(4_096, len(content), 40_960):
        file.write_bytes(content[:start] + b"\xff" * 4_096 + content[start + 4_096 :])
        found = store.get(values)
        assert {key: values[key] for key in found} == found
        store.put(values)
        store.put(values)
        assert store.get(values) == values
        content = content if file.stat().st_size == len(content) else file.read_bytes()


@pytest.mark.parametrize(
    "change", ["value = x'00'", "checksum = x'00'", "value = NULL", "value = 'text'", "key = x'01'"]
)
def test_a_damaged_value_is_missing(store: DerivedStore, file: Path, change: str) -> None:
    store.put({KEY: b"value"})
    with opened(file) as connection:
        connection.execute(f"UPDATE derived SET {change}")  # noqa: S608
    assert store.get([KEY]) == {}


def test_a_value_under_the_key_of_another_is_missing(store: DerivedStore, file: Path) -> None:
    store.put({KEY: b"value"})
    with opened(file) as connection:
        connection.execute("UPDATE derived SET key = ?", [OTHER])
    assert store.get([OTHER]) == {}


def test_another_layout_is_replaced(store: DerivedStore, file: Path) -> None:
    store.put({KEY: b"value"})
    with opened(file) as connection:
        connection.execute("PRAGMA user_version=99")
        connection.execute("ALTER TABLE derived ADD COLUMN more")
    assert store.get([KEY]) == {}
    store.put({KEY: b"value"})
    assert store.get([KEY]) == {KEY: b"value"}


def test_a_missing_table_is_replaced(store: DerivedStore, file: Path) -> None:
    store.put({KEY: b"value"})
    with opened(file) as connection:
        connection.execute("DROP TABLE derived")
    assert store.get([KEY]) == {}
    store.put({KEY: b"value"})
    assert store.get([KEY]) == {KEY: b"value"}


@pytest.mark.parametrize("place", ["a file", "a directory"])
def test_a_place_that_cannot_be_written_is_bypassed(
    store: DerivedStore, file: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    if place == "a file":
        file.parent.write_bytes(b"")
    else:
        file.mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        store.put({KEY: b"value"})
        assert store.get([KEY]) == {}
        assert store.sweep(unused_days=1) == 0
    assert len(caplog.records) == 1


def test_a_full_disk_is_bypassed(store: DerivedStore, caplog: pytest.LogCaptureFixture) -> None:
    store.put({KEY: b"value"})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with caplog.at_level(logging.WARNING):
            store.put({OTHER: b"x" * 1_000_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.get([KEY, OTHER]) == {KEY: b"value"}
    assert len(caplog.records) == 1


def test_a_lock_of_another_process_is_bypassed(
    store: DerivedStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.lib.derived_store._WAIT_SECONDS", 0.01)
    store.put({KEY: b"value"})
    with opened(file) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        store.put({OTHER: b"value"})
        assert store.get([KEY, OTHER]) == {KEY: b"value"}
        connection.execute("ROLLBACK")


def test_values_that_nobody_reads_are_swept(store: DerivedStore, clock: Clock) -> None:
    store.put({KEY: b"value", OTHER: b"value"})
    clock.pass_days(20)
    assert store.get([KEY]) == {KEY: b"value"}
    clock.pass_days(20)
    assert store.sweep(unused_days=30) == 1
    assert store.get([KEY, OTHER]) == {KEY: b"value"}


def test_sweeping_creates_no_file(store: DerivedStore, file: Path) -> None:
    assert store.sweep(unused_days=30) == 0
    assert not file.parent.exists()


def test_the_size_is_bounded(file: Path, clock: Clock) -> None:
    store = DerivedStore(file, most_bytes=MIB, clock=clock)
    old = {key_of(f"old {number}"): b"x" * 10_000 for number in range(60)}
    new = {key_of(f"new {number}"): b"x" * 10_000 for number in range(60)}
    store.put(old)
    clock.pass_days(1)
    store.put(new)
    assert store.get(new) == new
    assert 0 < len(store.get(old)) < len(old)
    with opened(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert file.stat().st_size < 1.1 * MIB
