"""CPU time of code that a hostile input could make slow."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_ATTEMPTS = 5
_LEAST = 0.002  # shorter times are mostly noise


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of the work. Fail if it needs more CPU time in every attempt.

    A busy machine and the garbage collector only add time, so one attempt within the bound is proof. Choose a bound far
    below the time of a quadratic algorithm, which exceeds it every time. The work must not use a cache.
    """
    taken = []
    for _ in range(_ATTEMPTS):
        result, cpu_seconds = _measured(work)
        taken.append(cpu_seconds)
        if cpu_seconds <= seconds:
            return result
    raise AssertionError(f"{min(taken):.2f} s of CPU time at best, and {seconds} s are allowed.")


def growth(work: Callable[[int], Callable[[], object]], size: int, *, times: int, enough: float) -> float:
    """Return by how much the CPU time grows if the size of the input is multiplied by `times`.

    `work` returns the operation on an input of a size. The smallest time of several attempts counts on both sides. The
    measurement ends with the first result that is at most `enough`. Times below two milliseconds count as two.
    """
    small, large = work(size), work(times * size)
    before = after = float("inf")
    for _ in range(_ATTEMPTS):
        before = min(before, max(_LEAST, _measured(small)[1]))
        after = min(after, max(_LEAST, _measured(large)[1]))
        if after / before <= enough:
            break
    return after / before


def _measured(work: Callable[[], T]) -> tuple[T, float]:
    gc.disable()
    try:
        before = time.thread_time()
        return work(), time.thread_time() - before
    finally:
        gc.enable()
