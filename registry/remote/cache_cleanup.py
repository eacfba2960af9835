"""Takes out of a cache what runs that were killed left there, and versions that nobody used for long."""

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.lib import files
from registry.remote import directories
from registry.remote.cache import OLD, SKILLS
from registry.remote.cache_records import RECORDS, Records

# What is newer may belong to somebody at work, and a version used since then is in use.
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
    """Removes leftovers, versions without use for `older_than` seconds, and of each name all but the `keep` used last.

    A version that was used within the grace period, or that `in_use` names, stays.
    """
    removed: list[Removed] = []
    now = clock()
    before = now - grace
    oldest = now - older_than if older_than is not None else 0.0
    for parent in _directories(root / SKILLS):
        removed += _leftovers(parent, before)
        removed += _records(parent, before)
        removed += _versions(parent, oldest, math.inf if keep is None else keep, before, in_use)
        _remove_empty(parent, before)
    return removed


def _leftovers(parent: Path, before: float) -> Iterator[Removed]:
    for path in _entries(parent):
        if path.name.startswith((files.TEMPORARY_PREFIX, OLD)) and _changed(path) < before:
            yield _remove(path, "left by a run that was stopped")


def _records(parent: Path, before: float) -> Iterator[Removed]:
    """Records of bytes that do not stand there any more."""
    for directory in _directories(parent / RECORDS):
        tree = directories.read(parent / directory.name)
        records = Records(parent, directory.name)
        for path in _entries(directory):
            if path.name.startswith(files.TEMPORARY_PREFIX) and _changed(path) < before:
                yield _remove(path, "left by a run that was stopped")
        for path in records.drop(before=before, but=tree.digest if tree else ""):
            yield Removed(path, "vouches for bytes that are gone", 0)
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
        if last_used(path) < before:  # asked again, since somebody may have come meanwhile
            yield from _take_away(path, "not used for long" if old else "other versions were used since", before)


def last_used(version: Path) -> float:
    """By its records, which resolving touches; one that was placed by hand has none, and counts from then."""
    return Records(version.parent, version.name).last_used() or _changed(version)


def _take_away(path: Path, why: str, before: float) -> Iterator[Removed]:
    """In one step for whoever looks. Records go after it, and only old ones: a new copy may be on its way."""
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
    """Only what has rested: a new one is empty for a moment as well."""
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
