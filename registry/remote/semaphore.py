"""So many at a time and no more, for processes on many machines: who works holds a file on the volume they share."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.lib import files

log = logging.getLogger(__name__)


class Busy(Exception):
    """All turns are taken."""


@contextmanager
def turn(
    directory: Path, key: str, *, most: int, seconds: float, clock: Callable[[], float] = time.time
) -> Iterator[None]:
    """Holds one of `most` turns of a key, or raises Busy. A holder that was killed is forgotten after `seconds`.

    A volume that cannot be written stops nobody here: what the turn was for will say so.
    """
    try:
        held = _first_free(directory, key, most, seconds, clock)
    except OSError as error:
        log.warning("Turns cannot be taken in %s and are not counted: %s", directory, error)
        yield
        return
    if held is None:
        raise Busy
    path, number = held
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if path.stat().st_ino == number:  # else it took too long, and somebody else has the turn by now
                path.unlink()


def _first_free(
    directory: Path, key: str, most: int, seconds: float, clock: Callable[[], float]
) -> tuple[Path, int] | None:
    files.make_directories(directory)
    for place in range(most):
        path = directory / f"{key}-{place}"
        _forget(path, clock() - seconds)
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            continue
        number = os.fstat(descriptor).st_ino
        os.close(descriptor)
        return path, number
    return None


def _forget(path: Path, before: float) -> None:
    """Clears a turn whose holder is gone. Of several who see it, one renames it, and looks at what it got."""
    try:
        if path.stat().st_mtime >= before:
            return
        aside = files.sibling(path, ".old-")
        path.rename(aside)
    except FileNotFoundError:
        return
    if aside.stat().st_mtime >= before:  # a new holder came in between: theirs goes back
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink(missing_ok=True)
