"""Reading skills of a real site, online and from the cache."""

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.pull import pull
from registry.core.bundle import Bundle, bundle_digest
from registry.models import Project
from registry.services.permissions import Actor
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk, skill_bundle
from tests.directories import read_files
from tests.prepared import create_skill, disable_skill, save_skill

BINARY = bytes(range(256)) * 3


@pytest.fixture
def greeting(library: Path) -> Path:
    return on_disk(library, "greeting", {"references/tone.md": "Freundlich. ☺\n".encode(), "assets/logo.png": BINARY})


@pytest.fixture(autouse=True)
def a_skill(greeting: Path) -> None:
    """Install one skill for every test of this module."""


def test_the_catalog_has_names_and_descriptions(client: SkillsiteClient) -> None:
    found = client.catalog()
    assert [line.name for line in found.skills] == ["greeting"]
    assert found.skills[0].description.startswith("Does what greeting does")
    assert not found.from_cache


def test_the_catalog_as_text_is_ready_for_a_prompt(client: SkillsiteClient) -> None:
    assert client.catalog_text().text.startswith("[Available Skills]\n• `greeting` — ")
    assert client.catalog_text(format="xml").text.startswith("<available_skills>")
    assert client.catalog_text(q="nothing-has-this-word").text == ""


def test_a_catalog_can_be_searched_and_limited_to_a_budget(client: SkillsiteClient, library: Path) -> None:
    on_disk(library, "parting")
    assert [line.name for line in client.catalog(q="parting").skills] == ["parting"]
    assert client.catalog(budget="1").omitted == ("greeting", "parting")


def test_a_skill_is_read_with_its_files(client: SkillsiteClient) -> None:
    skill = client.read(" Greeting ")
    assert skill.instructions.startswith("# greeting")
    assert {entry.path for entry in skill.files} == {"SKILL.md", "assets/logo.png", "references/tone.md"}
    assert bundle_digest(skill.files) == skill.digest


def test_an_exact_version_is_read_until_it_is_withdrawn(
    client: SkillsiteClient, project: Project, author: Actor
) -> None:
    first = create_skill(project, skill_bundle("own", body="first"), note="", by=author).version
    save_skill(project, "own", skill_bundle("own", body="second"), base=first.digest, note="", by=author)
    assert client.read("own", "1").instructions.strip() == "first"
    assert client.read("own").instructions.strip() == "second"
    with pytest.raises(errors.NotFound):
        client.read("own", "3")


def test_files_are_returned_byte_for_byte(client: SkillsiteClient) -> None:
    assert client.file("greeting", "assets/logo.png").content == BINARY
    assert client.file("greeting", "references/tone.md").text == "Freundlich. ☺\n"


def test_a_file_of_a_version_that_was_read_costs_one_request(client: SkillsiteClient, site: Between) -> None:
    skill = client.read("greeting")
    before = len(site.requests)
    assert client.file("greeting", "assets/logo.png", skill.version).digest == skill.digest
    assert len(site.requests) == before + 1


@pytest.mark.parametrize("path", ["missing.md", "../greeting/SKILL.md", "/etc/passwd", "references", ""])
def test_a_path_that_is_not_in_the_list_is_never_requested(client: SkillsiteClient, site: Between, path: str) -> None:
    with pytest.raises(errors.NotFound, match="has no file"):
        client.file("greeting", path)
    assert not site.transferred("/files/")


def test_a_bundle_is_the_bytes_of_the_directory(client: SkillsiteClient, greeting: Path) -> None:
    bundle = client.bundle("greeting")
    assert dict(bundle) == read_files(greeting)


def test_a_bundle_is_downloaded_once(connect: Connect, site: Between) -> None:
    first = connect().bundle("greeting")
    assert connect().bundle("greeting").digest == first.digest
    assert connect().directory("greeting").joinpath("assets/logo.png").read_bytes() == BINARY
    assert len(site.transferred()) == 1


def test_a_changed_cached_copy_is_downloaded_again(connect: Connect, site: Between, cache: Path) -> None:
    directory = connect().directory("greeting")
    directory.joinpath("SKILL.md").write_text("Do something else.")
    assert connect().bundle("greeting")["SKILL.md"] != b"Do something else."
    assert connect().directory("greeting").joinpath("SKILL.md").read_text() != "Do something else."
    assert len(site.transferred()) == 2


def test_a_cached_copy_of_another_site_is_not_used(connect: Connect, site: Between, live_server: Any) -> None:
    connect(url=live_server.url).bundle("greeting")
    connect().bundle("greeting")
    assert len(site.transferred()) == 1


def test_effective_skills_do_not_include_disabled_ones(
    client: SkillsiteClient, project: Project, author: Actor
) -> None:
    create_skill(project, skill_bundle("own"), note="", by=author)
    create_skill(project, skill_bundle("retired"), note="", by=author)
    disable_skill(project, "retired", by=author)
    assert [(one.name, one.source) for one in client.effective().skills] == [
        ("greeting", "bundled"),
        ("own", "project"),
    ]


def test_all_pages_of_effective_skills_are_read(client: SkillsiteClient, site: Between, library: Path) -> None:
    for number in range(6):
        on_disk(library, f"skill-{number}")

    def short_pages(between: Between, path: str, forward: Any) -> Reply | None:
        if "limit=1000" not in path:
            return None
        answer = between.http.get(
            between.upstream + path.replace("1000", "3"), headers={"Authorization": between.authorizations[-1]}
        )
        return Reply(200, answer.content)

    site.fault = short_pages
    assert len(client.effective().skills) == 7


# -- Refusals ----------------------------------------------------------------------------------------------


def test_an_unknown_skill_is_not_found(client: SkillsiteClient) -> None:
    with pytest.raises(errors.NotFound) as caught:
        client.read("unheard-of")
    assert caught.value.code == "not-found"
    with pytest.raises(errors.NotFound):
        client.bundle("unheard-of")


@pytest.mark.parametrize("name", ["a/b", "../../projects", "a?version=1", "a#b", "%2e%2e", "näme"])
def test_an_unusual_name_is_one_segment_of_the_address(client: SkillsiteClient, site: Between, name: str) -> None:
    with pytest.raises(errors.Refused):
        client.read(name)
    assert site.requests[-1].startswith("/api/v1/projects/demo/skills/")
    assert "/" not in site.requests[-1].removeprefix("/api/v1/projects/demo/skills/")


def test_a_wrong_token_is_not_allowed(connect: Connect) -> None:
    with pytest.raises(errors.NotAllowed) as caught:
        connect(token="sks_wrong").catalog()
    assert caught.value.status == 401


def test_another_project_is_not_found(connect: Connect, other_project: Project) -> None:
    with pytest.raises(errors.NotFound, match="no such project"):
        connect(project="other").catalog()


def test_an_invalid_request_has_the_reason(client: SkillsiteClient) -> None:
    with pytest.raises(errors.Refused, match="budget") as caught:
        client.catalog(budget="a lot")
    assert caught.value.code == "invalid-request"


# -- The cache ---------------------------------------------------------------------------------------------


def test_an_unchanged_response_is_not_downloaded_again(connect: Connect, site: Between) -> None:
    first = connect().read("greeting")
    sent = site.bytes_sent
    assert connect().read("greeting") == first
    assert site.bytes_sent == sent


def test_a_changed_response_is_downloaded(connect: Connect, project: Project, author: Actor) -> None:
    base = connect().read("greeting").digest
    save_skill(project, "greeting", skill_bundle("greeting", body="Quite different."), base=base, note="", by=author)
    assert connect().read("greeting").instructions.strip() == "Quite different."


def test_only_this_user_can_read_the_cache(client: SkillsiteClient, cache: Path) -> None:
    client.read("greeting")
    client.bundle("greeting")
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [cache, *cache.rglob("*")]}
    assert len(modes) > 6
    reachable = {path for path, mode in modes.items() if path.is_dir() and path.parent == cache and mode & 0o077}
    assert not reachable and not modes[cache] & 0o077
    assert all(not mode & 0o077 for path, mode in modes.items() if path.is_file() and "answers" in path.parts)


def test_the_cache_does_not_contain_the_token(client: SkillsiteClient, cache: Path, token: str) -> None:
    client.read("greeting")
    assert not [path for path in cache.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]


def test_another_token_does_not_share_the_cache(connect: Connect) -> None:
    connect().read("greeting")
    with pytest.raises(errors.NotCached):
        connect(offline=True, token="sks_another").read("greeting")


def test_a_damaged_cache_is_ignored(connect: Connect, cache: Path) -> None:
    first = connect().read("greeting")
    for path in (cache / "answers").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-5] + b"wrong")
    assert connect().read("greeting") == first
    with pytest.raises(errors.NotCached):
        connect(offline=True).catalog()


def test_a_read_only_cache_does_not_break_requests(
    connect: Connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    caplog.set_level("WARNING", logger="registry.client")
    client = connect(cache_dir=tmp_path / "file")
    assert client.read("greeting").name == "greeting"
    assert isinstance(client.bundle("greeting"), Bundle)
    assert "Could not cache" in caplog.text
    with pytest.raises(errors.LocalProblem):
        client.directory("greeting")


def test_offline_reads_what_was_read_before(connect: Connect, site: Between) -> None:
    online = connect()
    before = online.read("greeting"), online.file("greeting", "assets/logo.png"), online.bundle("greeting")
    asked = len(site.requests)
    offline = connect(offline=True)
    skill, file = offline.read("greeting"), offline.file("greeting", "assets/logo.png")
    assert skill.from_cache and file.from_cache
    assert (skill.instructions, file.content) == (before[0].instructions, BINARY)
    assert offline.bundle("greeting").digest == before[2].digest
    assert len(site.requests) == asked


def test_offline_reads_what_was_only_pulled(connect: Connect, site: Between, library: Path, tmp_path: Path) -> None:
    on_disk(library, "parting", {"assets/logo.png": BINARY}, requires=["greeting"])
    pull(connect(), tmp_path / "skills")
    site.requests.clear()
    offline = connect(offline=True)
    skill, file = offline.read(" Parting "), offline.file("parting", "assets/logo.png")
    assert file.content == BINARY and file.from_cache and not site.requests
    assert offline.read("parting", skill.version) == skill
    assert skill == replace(connect().read("parting"), from_cache=True)
    with pytest.raises(errors.NotCached, match="not in the cache"):
        offline.read("parting", "2")
    with pytest.raises(errors.NotCached):
        connect(offline=True, token="sks_another").read("parting")


def test_a_cached_response_is_used_if_the_site_is_unreachable(connect: Connect, site: Between) -> None:
    assert not connect().read("greeting").from_cache
    site.fault = lambda *_: Reply(503)
    assert connect().read("greeting").from_cache
    with pytest.raises(errors.Unreachable):
        connect().catalog_text()


def test_proxies_of_the_environment_are_ignored(
    monkeypatch: pytest.MonkeyPatch, connect: Connect, site: Between
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")
    assert connect().catalog().skills
