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


def test_the_growth_of_linear_and_quadratic_work_is_measured() -> None:
    assert cpu.growth(lambda size: lambda: _busy(size / 1_000), 3, times=4, enough=5.0) <= 5.0
    assert cpu.growth(lambda size: lambda: _busy(size**2 / 1_000), 2, times=4, enough=5.0) > 12.0


def test_growth_of_tiny_times_is_not_noise() -> None:
    assert cpu.growth(lambda size: lambda: None, 1, times=4, enough=0.0) == 1.0


def test_one_attempt_within_the_bound_is_enough() -> None:
    durations = iter([0.04, 0.04, 0.0])
    assert cpu.within(0.02, lambda: _busy(next(durations))) is None
    assert list(durations) == []
