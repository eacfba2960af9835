"""An empty directory of built-in skills, and a function that creates an index."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.core.limits import DEFAULT, Limits
from registry.services.catalog.built_in import BuiltInIndex
from tests.services.catalog.indexes import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    root.mkdir()
    return root


@pytest.fixture
def index(clock: Clock) -> Callable[..., BuiltInIndex]:
    def make(*roots: Path, reload_seconds: float = 5, limits: Limits = DEFAULT) -> BuiltInIndex:
        return BuiltInIndex(roots, reload_seconds=reload_seconds, limits=limits, clock=clock)

    return make
