"""The heap of this process."""

import ctypes
from functools import cache
from typing import Any


def release() -> None:
    """Give free memory back to the system. Call it after work with large arrays: glibc keeps what they used.

    Other C libraries do it themselves, or have no such function.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
