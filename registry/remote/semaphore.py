"""Counting semaphore for processes on many machines, with files on a shared volume."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.lib import files

log = logging.getLogger(__name__)


class NoFreeSlot(Exception):
    """All slots are taken."""


@contextmanager
def slot(
    directory: Path, key: str, *, most: int, seconds: float, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """Hold one of `most` slots of a key, or raise NoFreeSlot. A slot of a killed process is free after `seconds`.

    If the volume is not writable, the limit is not enforced; the work itself will report the error.
    """
    try:
        held = _acquire(directory, key, most, seconds, clock)
    except OSError as error:
        log.warning("Slots in %s are not writable, so the limit is not enforced: %s", directory, error)
        yield
        return
    if held is None:
        raise NoFreeSlot
    path, inode = held
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if path.stat().st_ino == inode:  # else it took too long, and another process holds the slot
                path.unlink()


def _acquire(
    directory: Path, key: str, most: int, seconds: float, clock: Callable[[], float]
) -> tuple[Path, int] | None:
    files.make_directories(directory)
    for place in range(most):
        path = directory / f"{key}-{place}"
        _release_expired(path, clock() - seconds)
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            continue
        inode = os.fstat(descriptor).st_ino
        os.close(descriptor)
        return path, inode
    return None


def _release_expired(path: Path, before: float) -> None:
    """Delete an expired slot. The rename makes sure that only one of several processes does it."""
    try:
        if path.stat().st_mtime >= before:
            return
        aside = files.sibling(path, ".old-")
        path.rename(aside)
    except FileNotFoundError:
        return
    if aside.stat().st_mtime >= before:  # another process took the slot meanwhile: restore it
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink(missing_ok=True)
