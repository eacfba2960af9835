"""Indexes of built-in skills, with a clock that tests advance."""

from pathlib import Path

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import Diagnostic
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


def only_problem(snapshot: Snapshot) -> Diagnostic:
    assert len(snapshot.diagnostics) == 1, snapshot.diagnostics
    return snapshot.diagnostics[0]


def entry(skill: BuiltInSkill, path: str) -> FileEntry:
    return next(entry for entry in skill.files if entry.path == path)
