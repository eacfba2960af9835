"""Fixtures for the protocols: callers, and a project with skills."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client

from registry.client import SkillsiteClient
from registry.core.bundle import Bundle
from registry.models import Project
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import Api, agent_token, skill_bundle
from tests.prepared import create_skill, import_bundle
from tests.protocols import readers
from tests.protocols.mcp_client import Mcp
from tests.protocols.readers import Digests
from tests.remembered import remembered
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

FILES = {
    "references/terms.md": "# Terms – Preise\r\n".encode(),
    "references/deep/more.txt": b"more\n",
    "assets/Ü ber 100%.txt": "ü\n".encode(),
    "assets/bytes.bin": bytes(range(256)),
}


@pytest.fixture
def secret(project: Project, operator: Actor) -> Callable[..., str]:
    """Return a function that creates a token of an agent with these scopes."""

    def make(*scopes: str, where: Project = project, agent: str = "bot") -> str:
        return agent_token(where, agent, scopes or ("read",), operator)

    return make


@pytest.fixture
@remembered
def offers(project: Project, operator: Actor) -> Bundle:
    """A skill with binary files, and file names with spaces and outside ASCII."""
    bundle = skill_bundle("offers", FILES, body="# Offers\n\nSee references/terms.md.", requires=["greeting"])
    import_bundle(project, bundle, by=operator)
    return bundle


@pytest.fixture
def mcp(secret: Callable[..., str]) -> Callable[..., Mcp]:
    def make(*scopes: str, **more: Any) -> Mcp:
        return Mcp(secret(*scopes, **more))

    return make


@pytest.fixture
def caller(mcp: Callable[..., Mcp]) -> Mcp:
    return mcp()


@pytest.fixture
def site(
    same_connection: None, project: Project, secret: Callable[..., str], tmp_path: Path
) -> Iterator[SkillsiteClient]:
    inside = httpx.WSGITransport(app=get_wsgi_application())
    with SkillsiteClient(
        "http://localhost", project.slug, secret(), cache_dir=tmp_path / "cache", transport=inside
    ) as connected:
        yield connected


@pytest.fixture
def digests(
    project: Project,
    api: Callable[..., Api],
    secret: Callable[..., str],
    operator: Actor,
    client: Client,
    site: SkillsiteClient,
    settings: Any,
) -> Callable[[], list[Digests]]:
    """Return a function that reads all skills through every protocol."""
    projects.set_public(project, True, by=operator)
    settings.PUBLIC_ROOT_PROJECTS = [project.slug]
    rest, token = api(), secret()

    def read() -> list[Digests]:
        return [
            readers.through_rest(rest),
            readers.through_mcp(Mcp(token), rest),
            readers.through_well_known(client, f"/t/{token}"),
            readers.through_well_known(client, ""),
            readers.through_client(site, rest),
        ]

    return read


@pytest.fixture
def public(project: Project, offers: Bundle, operator: Actor, settings: Any) -> Project:
    """A public project that the operator listed at the root of the site."""
    settings.PUBLIC_ROOT_PROJECTS = [project.slug]
    create_skill(project, skill_bundle("greeting"), by=operator)
    projects.set_public(project, True, by=operator)
    return project
