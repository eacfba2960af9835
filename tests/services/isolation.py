"""Fixtures that give each test its own blob storage and empty caches. Row ids repeat after a rollback."""

from pathlib import Path
from typing import Any

import pytest

from registry.lib import lru


@pytest.fixture(autouse=True)
def blob_directory(tmp_path: Path, settings: Any) -> Path:
    """Return the directory of the blob storage of this test."""
    directory = tmp_path / "blobs"
    blobs = settings.STORAGES["blobs"]
    options = {**blobs["OPTIONS"], "location": directory}
    settings.STORAGES = {**settings.STORAGES, "blobs": {**blobs, "OPTIONS": options}}
    return directory


@pytest.fixture(autouse=True)
def empty_caches() -> None:
    """Start with empty caches, as a new process does."""
    lru.clear_all()
