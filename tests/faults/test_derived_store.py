"""Processes that write one store of derived values at the same time, or are killed while they write."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from registry.lib.derived_store import DerivedStore, key_of
from tests.faults.sites import PATIENCE, ROOT

pytestmark = pytest.mark.processes

KEYS = 40

WRITER = """
import sys
from pathlib import Path
from registry.lib.derived_store import DerivedStore, key_of
store = DerivedStore(Path(sys.argv[1]), most_bytes=1 << 30)
rounds = 0
while True:
    for number in range(40):
        store.put({key_of(str(number)): f"value {number}".encode() * 2_000})
    rounds += 1
    print(rounds, len(store.get(key_of(str(number)) for number in range(40))), flush=True)
"""


@contextmanager
def writer(file: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", WRITER, str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait(PATIENCE)


def found(file: Path) -> dict[bytes, bytes]:
    return DerivedStore(file, most_bytes=1 << 30).get(key_of(str(number)) for number in range(KEYS))


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def expected() -> dict[bytes, bytes]:
    return {key_of(str(number)): f"value {number}".encode() * 2_000 for number in range(KEYS)}


def test_two_processes_write_one_store(tmp_path: Path, rounds: int) -> None:
    file = tmp_path / "store.sqlite3"
    with writer(file) as first, writer(file) as second:
        for number in range(1, rounds + 1):
            assert line(first) == f"{number} {KEYS}"
            assert line(second) == f"{number} {KEYS}"
    assert found(file) == expected()


def test_a_process_that_is_killed_while_it_writes_damages_nothing(tmp_path: Path, rounds: int) -> None:
    file = tmp_path / "store.sqlite3"
    for _ in range(rounds):
        with writer(file) as process:
            assert line(process) == f"1 {KEYS}"
        assert found(file) == expected()


def test_a_store_that_another_process_deletes_is_written_again(tmp_path: Path, rounds: int) -> None:
    file = tmp_path / "store.sqlite3"
    with writer(file) as process:
        for _ in range(rounds):
            line(process)
            DerivedStore(file, most_bytes=1 << 30).discard()
        line(process)
        line(process)
    assert {key: expected()[key] for key in found(file)} == found(file)
