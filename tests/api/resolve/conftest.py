"""A volume for cached copies, a web server to fetch from, and an agent that resolves."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.models import Project
from tests.conftest import Api
from tests.services.resolving import volume, web

__all__ = ["volume", "web"]


@pytest.fixture
def bot(project: Project, volume: Path, api: Callable[..., Api]) -> Api:
    return api("read")
