"""Each test has its own blob storage and starts with nothing remembered: row ids come back after a rollback."""

from pathlib import Path
from typing import Any

import pytest

from registry.api import read_view
from registry.services.catalog import catalog


@pytest.fixture(autouse=True)
def blob_directory(tmp_path: Path, settings: Any) -> Path:
    """Where the files of bundles are stored during this test."""
    directory = tmp_path / "blobs"
    blobs = settings.STORAGES["blobs"]
    options = {**blobs["OPTIONS"], "location": directory}
    settings.STORAGES = {**settings.STORAGES, "blobs": {**blobs, "OPTIONS": options}}
    return directory


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has just started: no view and no answer is kept yet."""
    monkeypatch.setattr(catalog, "_views", catalog._Views())
    monkeypatch.setattr(read_view, "_answers", read_view._Answers())
