"""Turns that processes share by files: so many at a time, given back, forgotten when their holder is gone."""

import os
import threading
from pathlib import Path

import pytest

from registry.remote.semaphore import NoFreeSlot, slot
from tests import effort


def held(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_so_many_at_a_time_and_no_more(tmp_path: Path) -> None:
    with slot(tmp_path, "t", most=2, seconds=60), slot(tmp_path, "t", most=2, seconds=60):
        assert held(tmp_path) == ["t-0", "t-1"]
        with pytest.raises(NoFreeSlot), slot(tmp_path, "t", most=2, seconds=60):
            pass
        with slot(tmp_path, "other", most=2, seconds=60):
            pass
    assert held(tmp_path) == []


def test_a_turn_is_given_back_when_its_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="work"), slot(tmp_path, "t", most=1, seconds=60):
        raise ValueError("work")
    with slot(tmp_path, "t", most=1, seconds=60):
        pass


def test_a_holder_that_was_killed_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "t-0").touch()
    with pytest.raises(NoFreeSlot), slot(tmp_path, "t", most=1, seconds=60):
        pass
    os.utime(tmp_path / "t-0", (1e9, 1e9))
    with slot(tmp_path, "t", most=1, seconds=60):
        assert held(tmp_path) == ["t-0"]
    assert held(tmp_path) == []


def test_whoever_took_too_long_does_not_give_back_the_turn_of_another(tmp_path: Path) -> None:
    with slot(tmp_path, "t", most=1, seconds=60):
        (tmp_path / "t-0").rename(tmp_path / "aside")  # forgotten meanwhile
        (tmp_path / "t-0").touch()
    assert "t-0" in held(tmp_path)


def test_a_volume_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = []
    with slot(tmp_path / "file" / "below", "t", most=1, seconds=60):
        done.append(True)
    assert done


def test_of_many_who_come_at_once_as_many_are_let_in(tmp_path: Path) -> None:
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
