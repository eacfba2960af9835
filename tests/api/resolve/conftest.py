"""A volume for cached copies, a web server to fetch from, and an agent that resolves."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.models import Project
from tests.conftest import Api
from tests.remote.web import Web
from tests.services.receivers import receiving


@pytest.fixture
def volume(tmp_path: Path, settings: Any) -> Path:
    settings.PERSISTENT_VOLUME_STORAGE = tmp_path / "volume"
    return tmp_path / "volume"


@pytest.fixture
def web(settings: Any) -> Iterator[Web]:
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        yield Web(receiver)


@pytest.fixture
def bot(project: Project, volume: Path, api: Callable[..., Api]) -> Api:
    return api("read")
