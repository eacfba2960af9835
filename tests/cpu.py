"""CPU time of code that a hostile input could make slow."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_ATTEMPTS = 5


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


def _measured(work: Callable[[], T]) -> tuple[T, float]:
    gc.disable()
    try:
        before = time.thread_time()
        return work(), time.thread_time() - before
    finally:
        gc.enable()
