"""Fixtures for tests that resolve skills: a volume for cached copies, and a web server to fetch from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.remote.web import Web
from tests.services.receivers import receiving


@pytest.fixture
def volume(tmp_path: Path, settings: Any) -> Path:
    settings.PERSISTENT_VOLUME_STORAGE = tmp_path / "volume"
    return tmp_path / "volume"


@pytest.fixture
def web(settings: Any) -> Iterator[Web]:
    """Start a web server on loopback that the site may fetch from."""
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        yield Web(receiver)
