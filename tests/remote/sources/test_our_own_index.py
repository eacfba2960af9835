"""Another site of this kind as a source: what it serves is what is fetched, byte for byte."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from registry.core.bundle import Bundle
from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.remote import sources
from registry.remote.sources import URL, WELL_KNOWN, FetchedBundle, Listing, NotASource, RemoteSource
from registry.services.agents import tokens
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import ensure_agent, import_bundle
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

FILES = {
    "references/Ü ber 100%.md": b"# Preise\r\n",
    "assets/bytes.bin": bytes(range(256)),
    "deep/er/x.txt": b"",
}


@pytest.fixture
def published(live_server: Any, project: Project, operator: Actor, settings: Any) -> dict[str, Bundle]:
    """Two skills of a public project at the root: one is SKILL.md alone, the other has files that are hard to carry."""
    settings.PUBLIC_ROOT_PROJECTS = [project.slug]
    made = {"greeting": skill_bundle("greeting"), "offers": skill_bundle("offers", FILES)}
    for bundle in made.values():
        import_bundle(project, bundle, by=operator)
    projects.set_public(project, True, by=operator)
    return made


def listed(address: str) -> tuple[RemoteSource, Listing, frozenset[str]]:
    source, allowed = RemoteSource(WELL_KNOWN, address), frozenset({urlsplit(address).netloc})
    checked = sources.check(source, allowed=allowed)
    return checked, sources.listing(checked, allowed=allowed), allowed


@pytest.mark.parametrize(
    "path", ["", "/projects/demo/", "/projects/demo/skills", "/.well-known/agent-skills/index.json",
             "/projects/demo/.well-known/skills/index.json"]
)  # fmt: skip
def test_every_skill_is_fetched_as_it_was_published(live_server: Any, published: dict[str, Bundle], path: str) -> None:
    source, found, allowed = listed(live_server.url + path)
    assert [entry.name for entry in found.entries] == ["greeting", "offers"]
    assert found.problems == () and all(entry.description for entry in found.entries)
    for entry, got in sources.fetch_all(source, found.entries, allowed=allowed):
        assert isinstance(got, FetchedBundle) and got.bundle.digest == published[entry.name].digest
        assert got.digest == entry.digest


def test_the_address_of_one_skill_offers_that_one(live_server: Any, published: dict[str, Bundle]) -> None:
    _, found, _ = listed(f"{live_server.url}/projects/demo/skills/offers")
    assert [entry.name for entry in found.entries] == ["offers"]


def test_one_archive_of_it_is_a_file_at_an_address(live_server: Any, published: dict[str, Bundle]) -> None:
    allowed = frozenset({urlsplit(live_server.url).netloc})
    source = RemoteSource(URL, f"{live_server.url}/.well-known/agent-skills/offers.zip")
    (entry,) = sources.listing(source, allowed=allowed).entries
    assert (entry.name, entry.digest) == ("offers", published["offers"].digest)


def test_a_project_that_is_not_public_is_refused(
    live_server: Any, published: dict[str, Bundle], project: Project, operator: Actor
) -> None:
    projects.set_public(project, False, by=operator)
    with pytest.raises(NotASource, match="status 404"):
        listed(f"{live_server.url}/projects/demo")
    assert listed(live_server.url)[1] == Listing(())


def test_the_address_of_a_token_is_refused_as_a_source(
    live_server: Any, published: dict[str, Bundle], project: Project, operator: Actor
) -> None:
    bot = ensure_agent(project, "bot", by=operator)
    secret = tokens.create_token(project, agent=bot, scopes=("read",), by=operator)
    with pytest.raises(InvalidRequest, match="contains a token") as refused:
        listed(f"{live_server.url}/t/{secret}")
    assert secret not in refused.value.message
