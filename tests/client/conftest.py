"""A site on a port behind a proxy that can misbehave, clients that do not wait, and project skills."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.client import Retrying, SkillsiteClient
from registry.models import Project
from registry.services.permissions import Actor
from tests import effort
from tests.client.between import Between, between
from tests.client.pulls import Save
from tests.conftest import agent_token, skill_bundle
from tests.prepared import create_skill, save_skill
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

Connect = Callable[..., SkillsiteClient]


@pytest.fixture
def token(project: Project, operator: Actor) -> str:
    return agent_token(project, "bot", ("read", "propose"), operator)


@pytest.fixture
def site(live_server: Any, project: Project) -> Iterator[Between]:
    with between(live_server.url) as server:
        yield server


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def waits() -> list[float]:
    """Return the delays that the client would have slept."""
    return []


@pytest.fixture
def connect(site: Between, token: str, cache: Path, waits: list[float]) -> Iterator[Connect]:
    """Return a function that creates clients and closes them after the test."""
    made: list[SkillsiteClient] = []
    patient = Retrying(sleep=waits.append, chance=lambda: 1.0)

    def make(**given: Any) -> SkillsiteClient:
        url = given.pop("url", site.url)
        attempts = given.pop("attempts", patient.attempts)
        options: dict[str, Any] = {
            "cache_dir": cache,
            "retrying": replace(patient, attempts=attempts),
            "timeout": effort.PATIENCE,
        } | given
        made.append(SkillsiteClient(url, options.pop("project", "demo"), options.pop("token", token), **options))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(connect: Connect) -> SkillsiteClient:
    return connect()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return the path of a directory that does not exist yet."""
    return tmp_path / "skills"


@pytest.fixture
def save(project: Project, author: Actor) -> Save:
    """Save a project skill, as a new version if it exists, and return its digest."""

    def make(name: str, body: str = "", **given: Any) -> str:
        bundle = skill_bundle(name, given.pop("files", None), body=body)
        base = given.pop("base", None)
        if base is None:
            return create_skill(project, bundle, note="", by=author).version.digest
        return save_skill(project, name, bundle, base=base, note="", by=author).version.digest

    return make
