"""Turns that processes share by files: so many at a time, given back, forgotten when their holder is gone."""

import os
import threading
from pathlib import Path

import pytest

from registry.remote.semaphore import NoFreeSlot, slot
from tests import effort


def held(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_number_of_slots_is_limited(tmp_path: Path) -> None:
    with slot(tmp_path, "t", most=2, seconds=60), slot(tmp_path, "t", most=2, seconds=60):
        assert held(tmp_path) == ["t-0", "t-1"]
        with pytest.raises(NoFreeSlot), slot(tmp_path, "t", most=2, seconds=60):
            pass
        with slot(tmp_path, "other", most=2, seconds=60):
            pass
    assert held(tmp_path) == []


def test_a_slot_is_released_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="work"), slot(tmp_path, "t", most=1, seconds=60):
        raise ValueError("work")
    with slot(tmp_path, "t", most=1, seconds=60):
        pass


def test_the_slot_of_a_killed_process_expires(tmp_path: Path) -> None:
    (tmp_path / "t-0").touch()
    with pytest.raises(NoFreeSlot), slot(tmp_path, "t", most=1, seconds=60):
        pass
    os.utime(tmp_path / "t-0", (1e9, 1e9))
    with slot(tmp_path, "t", most=1, seconds=60):
        assert held(tmp_path) == ["t-0"]
    assert held(tmp_path) == []


def test_a_process_that_took_too_long_does_not_release_the_slot_of_another(tmp_path: Path) -> None:
    with slot(tmp_path, "t", most=1, seconds=60):
        (tmp_path / "t-0").rename(tmp_path / "aside")  # forgotten meanwhile
        (tmp_path / "t-0").touch()
    assert "t-0" in held(tmp_path)


def test_a_volume_that_is_not_writable_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = []
    with slot(tmp_path / "file" / "below", "t", most=1, seconds=60):
        done.append(True)
    assert done


def test_concurrent_processes_get_exactly_the_slots(tmp_path: Path) -> None:
    inside, most, busy = [0], [0], [0]
    lock, start, leave = threading.Lock(), threading.Barrier(12), threading.Barrier(12)

    def come() -> None:
        start.wait(effort.PATIENCE)
        try:
            with slot(tmp_path, "t", most=3, seconds=60):
                with lock:
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                leave.wait(effort.PATIENCE)
                with lock:
                    inside[0] -= 1
        except NoFreeSlot:
            with lock:
                busy[0] += 1
            leave.wait(effort.PATIENCE)

    workers = [threading.Thread(target=come) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (most[0], busy[0]) == (3, 9)
