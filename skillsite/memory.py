"""Garbage collection of processes that load hundreds of modules at their start and keep them."""

import atexit
import gc

_NEW_OBJECTS = 50_000  # between two passes; Python's default of 700 means thousands of passes during a start


def collect_rarely() -> None:
    """Make a start and an end take less time: a quarter of both was spent in passes that found nothing."""
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)
