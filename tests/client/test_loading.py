"""Loading every skill for a framework: one that cannot be loaded costs only itself."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.client import LIMITS
from registry.client.loaders.loading import load_all
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.client.pulls import Save
from tests.conftest import on_disk

NAMES = [f"skill-{number:02}" for number in range(25)]


@pytest.fixture(autouse=True)
def many(library: Path) -> None:
    for name in NAMES:
        on_disk(library, name, {"references/a.md": name.encode()})


def test_every_skill_is_loaded_into_a_directory(client: SkillsiteClient) -> None:
    loading = load_all(client)
    assert [loaded.name for loaded in loading.skills] == NAMES and not loading.skipped
    first = loading.skills[0]
    assert (first.directory / "references/a.md").read_text() == first.name
    assert first.skill_md.instructions.startswith(f"# {first.name}")


@pytest.mark.parametrize("answer", [Reply(200, b"not a zip"), Reply(404), Reply(500), Reply(403)])
def test_a_skill_that_cannot_be_loaded_is_skipped_and_reported(
    client: SkillsiteClient, site: Between, caplog: pytest.LogCaptureFixture, answer: Reply
) -> None:
    site.fault = lambda between, path, forward: answer if "skill-07/bundle.zip" in path else None
    with caplog.at_level(logging.WARNING):
        loading = load_all(client)
    assert [loaded.name for loaded in loading.skills] == [name for name in NAMES if name != "skill-07"]
    assert list(loading.skipped) == ["skill-07"] and loading.skipped["skill-07"]
    assert "The skill skill-07 was skipped: " in caplog.text


def test_a_skill_over_the_limits_of_the_client_is_skipped(connect: Connect, save: Save) -> None:
    """A site may have higher limits than the client."""
    save("large", "x" * 2_000)
    loading = load_all(connect(limits=replace(LIMITS, skill_md_bytes=1_500)))
    assert list(loading.skipped) == ["large"] and len(loading.skills) == 25


def test_cached_skills_are_loaded_if_the_site_stops(connect: Connect, site: Between, waits: list[float]) -> None:
    client = connect()
    for name in NAMES[5:15]:
        client.bundle(name)
    site.fault = lambda between, path, forward: Reply(503) if "bundle.zip" in path else None
    site.requests.clear()
    loading = load_all(client)
    assert [loaded.name for loaded in loading.skills] == NAMES[5:15]
    assert list(loading.skipped) == NAMES[:5] + NAMES[15:]
    assert len(site.transferred()) == 4, "only the first skill is tried, with its retries"


def test_a_list_that_is_not_available_is_an_error(connect: Connect, site: Between) -> None:
    site.fault = lambda *_: Reply(503)
    with pytest.raises(errors.Unreachable):
        load_all(connect())
