"""Indexes of built-in skills, with a clock that tests advance."""

from pathlib import Path

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import LeftOut
from registry.core.limits import DEFAULT, Limits
from registry.services.catalog.built_in import BuiltInIndex, BuiltInSkill, Snapshot


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def look(*roots: Path, limits: Limits = DEFAULT) -> Snapshot:
    return BuiltInIndex(roots, reload_seconds=5, limits=limits).snapshot()


def only_problem(snapshot: Snapshot) -> LeftOut:
    assert len(snapshot.left_out) == 1, snapshot.left_out
    return snapshot.left_out[0]


def entry(skill: BuiltInSkill, path: str) -> FileEntry:
    return next(entry for entry in skill.files if entry.path == path)
