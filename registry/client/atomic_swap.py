"""Replaces a directory by another one, atomically if the system supports it."""

import ctypes
import os
import secrets
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # Linux: renameat2
_RENAME_SWAP = 2  # macOS: renamex_np


def put_in_place(fresh: Path, target: Path) -> None:
    """Move `fresh` to `target`. A directory that was at `target` before is at `fresh` afterwards."""
    if not os.path.lexists(target):
        try:
            fresh.rename(target)
            return
        except OSError:
            if not os.path.lexists(target):
                raise
    if exchange(fresh, target):
        return
    # Other systems need two steps. If the process stops between them, the old directory is intact under another name.
    aside = fresh.with_name(f"{fresh.name}-{secrets.token_hex(4)}")
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    aside.rename(fresh)


def exchange(one: Path, other: Path) -> bool:
    """Swap two paths atomically. Return False if the system or the file system does not support it."""
    call = _system_call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@lru_cache(maxsize=1)
def _system_call() -> Any:
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux":
        renameat2 = getattr(library, "renameat2", None)
        return renameat2 and (lambda a, b: renameat2(_AT_FDCWD, a, _AT_FDCWD, b, _RENAME_EXCHANGE))
    renamex = getattr(library, "renamex_np", None)
    return renamex and (lambda a, b: renamex(a, b, _RENAME_SWAP))
