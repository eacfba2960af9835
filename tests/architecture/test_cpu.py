"""Bounds of CPU time fail for slow code, and never because the machine is busy."""

import time

import pytest

from tests import cpu


def _busy(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_work_beyond_the_bound_fails() -> None:
    with pytest.raises(AssertionError, match=r"0\.0\d s of CPU time at best, and 0\.01 s are allowed"):
        cpu.within(0.01, lambda: _busy(0.02))


def test_one_attempt_within_the_bound_is_enough() -> None:
    durations = iter([0.04, 0.04, 0.0])
    assert cpu.within(0.02, lambda: _busy(next(durations))) is None
    assert list(durations) == []
