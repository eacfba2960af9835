"""Cleanup of the cache: leftovers of killed processes, unused copies, and copies over a quota."""

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.lib import files
from registry.remote import directories
from registry.remote.cache import AREAS, OLD, SKILLS
from registry.remote.cache_records import RECORDS, Records

# Newer files may belong to a running process, and a version used within this time is in use.
GRACE_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Removed:
    path: Path
    why: str
    size: int


def _nobody(name: str, version: str) -> bool:
    return False


def clean(
    root: Path,
    *,
    older_than: float | None = None,
    keep: int | None = None,
    in_use: Callable[[str, str], bool] = _nobody,
    grace: float = GRACE_SECONDS,
    clock: Callable[[], float] = time.time,
) -> list[Removed]:
    """Remove leftovers, copies unused for `older_than` seconds, and all but the `keep` last used versions of each name.

    Copies used within the grace period, or for which `in_use` returns True, stay.
    """
    removed: list[Removed] = []
    now = clock()
    before = now - grace
    oldest = now - older_than if older_than is not None else 0.0
    for area in AREAS:
        most = keep if keep is not None and area == SKILLS else math.inf
        for parent in _directories(root / area):
            removed += _leftovers(parent, before)
            removed += _records(parent, before)
            removed += _versions(parent, oldest, most, before, in_use)
            _remove_empty(parent, before)
    return removed


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """A copy with a record. `size` is what it counts against the quota of `by`."""

    path: Path
    size: int
    by: str
    used: float


def stored_copies(root: Path) -> Iterator[StoredCopy]:
    """Yield every copy that a resolver or client stored. Copies that somebody placed by hand are left out."""
    for parent in (parent for area in AREAS for parent in _directories(root / area)):
        for directory in _directories(parent / RECORDS):
            records = Records(parent, directory.name)
            record = records.newest()
            if record is not None:
                yield StoredCopy(parent / directory.name, int(record.size), record.by, records.last_used())


def trim(
    root: Path,
    *,
    most: int,
    each: int,
    grace: float = GRACE_SECONDS,
    clock: Callable[[], float] = time.time,
) -> list[Removed]:
    """Remove the copies that were not used for longest, until all have `most` bytes and those of each owner `each`.

    Copies used within the grace period stay, even if they are too large in sum.
    """
    removed: list[Removed] = []
    before = clock() - grace
    copies = sorted(stored_copies(root), key=lambda copy: copy.used)
    total = sum(copy.size for copy in copies)
    owned: dict[str, int] = {}
    for copy in copies:
        owned[copy.by] = owned.get(copy.by, 0) + copy.size
    for copy in copies:
        if (total > most or owned[copy.by] > each) and last_used(copy.path) < before:
            removed += _remove_version(copy.path, "over the quota", before)
            total, owned[copy.by] = total - copy.size, owned[copy.by] - copy.size
    return removed


def _leftovers(parent: Path, before: float) -> Iterator[Removed]:
    for path in _entries(parent):
        if path.name.startswith((files.TEMPORARY_PREFIX, OLD)) and _changed(path) < before:
            yield _remove(path, "left by an interrupted run")


def _records(parent: Path, before: float) -> Iterator[Removed]:
    """Remove records of content that no longer exists."""
    for directory in _directories(parent / RECORDS):
        tree = directories.read(parent / directory.name)
        records = Records(parent, directory.name)
        for path in _entries(directory):
            if path.name.startswith(files.TEMPORARY_PREFIX) and _changed(path) < before:
                yield _remove(path, "left by an interrupted run")
        # Without any record, a copy that was changed on disk would count as placed by hand, and would be used.
        if tree is None or records.has(tree.digest):
            for path in records.drop(before=before, but=tree.digest if tree else ""):
                yield Removed(path, "record of removed content", 0)
        _remove_empty(directory, before)


def _versions(
    parent: Path, older_than: float, keep: float, before: float, in_use: Callable[[str, str], bool]
) -> Iterator[Removed]:
    used = {path: last_used(path) for path in _entries(parent) if not path.name.startswith(".")}
    newest_first = sorted(used, key=lambda path: (-used[path], path.name))
    for rank, path in enumerate(newest_first):
        old = used[path] < older_than
        if not (old or rank >= keep) or in_use(parent.name, path.name):
            continue
        if last_used(path) < before:  # checked again, because it may have been used meanwhile
            yield from _remove_version(path, "unused" if old else "more recent versions are kept", before)


def last_used(version: Path) -> float:
    """Return the time of last use, from the records. A skill placed by hand has none; its own time is used."""
    return Records(version.parent, version.name).last_used() or _changed(version)


def _remove_version(path: Path, why: str, before: float) -> Iterator[Removed]:
    """Remove a version atomically, then its old records. New records may belong to a skill that is being stored."""
    aside = files.sibling(path, OLD)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return
    size = _remove(aside, why).size
    Records(path.parent, path.name).drop(before=before)
    _remove_empty(path.parent / RECORDS / path.name, math.inf)
    yield Removed(path, why, size)


def _remove(path: Path, why: str) -> Removed:
    size = sum(file.lstat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else 0
    files.remove(path)
    return Removed(path, why, size)


def _remove_empty(directory: Path, before: float) -> None:
    """Remove a directory if it is old, because a new one is empty for a moment too."""
    if _changed(directory) >= before:
        return
    for path in (directory / RECORDS, directory):
        try:
            path.rmdir()
        except OSError:
            continue


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return math.inf


def _entries(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as found:
            return sorted(Path(entry.path) for entry in found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _directories(directory: Path) -> list[Path]:
    return [path for path in _entries(directory) if path.is_dir() and not path.is_symlink()]
