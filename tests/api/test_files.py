"""One file of a skill: text, downloads, unsafe paths, and files that change on disk."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import content_digest
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill, save_skill, yank_version

FILES = {
    "references/tone.md": "Grüße — freundlich.\n".encode(),
    "data.bin": bytes(range(256)),
    "zero.txt": b"text with a \0 in it",
    "long.txt": b"x" * 128_001,
    "just-fits.txt": b"x" * 128_000,
    "page.html": b"<script>alert(1)</script>",
    "logo.svg": b"<svg onload='alert(1)'/>",
    "a b & c.txt": b"odd name",
    "empty.txt": b"",
}


@pytest.fixture(params=["project", "bundled"])
def bot(request: Any, project: Project, library: Path, operator: Actor, api: Callable[..., Api]) -> Api:
    """Return a caller for the same skill from either source. The answers must be the same."""
    if request.param == "bundled":
        on_disk(library, files=FILES)
    else:
        create_skill(project, skill_bundle(files=FILES), by=operator)
    return api("read")


@pytest.fixture
def reader(project: Project, api: Callable[..., Api]) -> Api:
    return api("read")


def ask(bot: Api, path: str, **query: str) -> Any:
    """Send the path exactly as written."""
    return bot.client.get(f"{bot.base}/skills/greeting/files/{path}", query, headers=bot.headers)


def test_a_text_file_is_returned_with_its_path_and_version(bot: Api) -> None:
    loaded = bot.get("/skills/greeting").json()
    body = ask(bot, "references/tone.md").json()
    assert body == {
        "name": "greeting",
        "source": loaded["source"],
        "version": loaded["version"],
        "digest": loaded["digest"],
        "path": "references/tone.md",
        "size": len(FILES["references/tone.md"]),
        "content": "Grüße — freundlich.\n",
    }


@pytest.mark.parametrize("path", ["empty.txt", "just-fits.txt", "a%20b%20%26%20c.txt", "page.html"])
def test_every_text_within_the_limit_is_returned(bot: Api, path: str) -> None:
    assert ask(bot, path).status_code == 200


UNSAFE = [
    ".",
    "..",
    "../SKILL.md",
    "a/../../b",
    "references/..",
    "references/./tone.md",
    "references//tone.md",
    "references/",
    "/etc/passwd",
    "//etc/passwd",
    "~",
    "~/.ssh/id_rsa",
    "..%5C..%5Cetc",
    "references%5Ctone.md",
    "%2e%2e",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "C:/Windows/win.ini",
    "SKILL.md:hidden",
    "con",
    "a%E2%80%AEb",
    "trailing.",
    "trailing%20",
    "x" * 300,
]


@pytest.mark.parametrize("path", UNSAFE)
def test_an_unsafe_path_is_refused_as_text_and_as_download(
    project: Project, library: Path, operator: Actor, reader: Api, path: str
) -> None:
    on_disk(library, "bundled-one")
    create_skill(project, skill_bundle("own-one"), by=operator)
    for name in ("bundled-one", "own-one"):
        for query in ("", "?download=1"):
            address = f"{reader.base}/skills/{name}/files/{path}{query}"
            body = problem(reader.client.get(address, headers=reader.headers), 400, "unsafe-path")
            assert "cannot be used" in body["detail"]


@pytest.mark.parametrize(
    "path", ["references", "missing.txt", "skill.md", "SKILL.md/x", "REFERENCES/tone.md", "%252e%252e", "a%0Ab"]
)
def test_a_path_that_is_not_a_file_of_the_skill_is_not_found(bot: Api, path: str) -> None:
    problem(ask(bot, path), 404, "not-found")


def test_a_missing_file_lists_the_existing_ones(bot: Api) -> None:
    assert set(problem(ask(bot, "missing.txt"), 404, "not-found")["files"]) == {"SKILL.md", *FILES}


def test_an_empty_path_is_not_found(bot: Api) -> None:
    problem(ask(bot, ""), 404, "not-found")


def test_a_nul_in_the_path_is_refused(bot: Api) -> None:
    problem(ask(bot, "a%00.txt"), 400, "invalid-request")


def test_an_encoded_slash_is_a_slash(bot: Api) -> None:
    assert ask(bot, "references%2Ftone.md").json()["path"] == "references/tone.md"


@pytest.mark.parametrize("path", ["data.bin", "zero.txt"])
def test_a_binary_file_answers_with_a_download_link(bot: Api, path: str) -> None:
    body = problem(ask(bot, path), 415, "not-text")
    assert bot.client.get(body["download"], headers=bot.headers).content == FILES[path]


def test_a_text_over_the_limit_answers_with_a_download_link_and_both_sizes(bot: Api) -> None:
    body = problem(ask(bot, "long.txt"), 413, "too-large")
    assert "128,001 bytes. 128,000 are allowed" in body["detail"]
    assert bot.client.get(body["download"], headers=bot.headers).content == FILES["long.txt"]


def test_the_download_link_keeps_the_version(bot: Api) -> None:
    version = bot.get("/skills/greeting").json()["version"]
    body = problem(ask(bot, "data.bin", version=version), 415, "not-text")
    assert f"version={version}" in body["download"]
    assert "download=1" in body["download"]


@pytest.mark.parametrize(
    ("path", "kind", "attached"),
    [
        ("references/tone.md", "text/markdown; charset=utf-8", False),
        ("just-fits.txt", "text/plain; charset=utf-8", False),
        ("data.bin", "application/octet-stream", True),
        ("page.html", "application/octet-stream", True),
        ("logo.svg", "application/octet-stream", True),
    ],
)
def test_raw_bytes_cannot_run_in_a_browser(bot: Api, path: str, kind: str, attached: bool) -> None:
    response = ask(bot, path, download="1")
    assert (response.status_code, response.content) == (200, FILES[path])
    assert response["Content-Type"] == kind
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response.get("Content-Disposition", "").startswith("attachment") == attached


@pytest.mark.parametrize("value", ["0", "false"])
def test_download_0_returns_json(bot: Api, value: str) -> None:
    assert ask(bot, "references/tone.md", download=value).json()["path"] == "references/tone.md"


@pytest.mark.parametrize("value", ["2", "yes", "", "no"])
def test_an_invalid_download_flag_is_refused(bot: Api, value: str) -> None:
    problem(ask(bot, "references/tone.md", download=value), 400, "invalid-request")


def test_a_file_of_an_unknown_skill_is_not_found(bot: Api) -> None:
    for name in ("nothing", "..", "%2e%2e", "~", "a%5Cb"):
        problem(bot.client.get(f"{bot.base}/skills/{name}/files/SKILL.md", headers=bot.headers), 404, "not-found")


def test_a_file_of_an_unknown_version_is_not_found(bot: Api) -> None:
    problem(ask(bot, "references/tone.md", version="99"), 404, "not-found")


def test_the_bundle_is_a_zip_of_all_files(bot: Api) -> None:
    response = bot.get("/skills/greeting/bundle.zip")
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == "attachment; filename*=UTF-8''greeting.zip"
    with zipfile.ZipFile(BytesIO(response.content)) as archive:
        assert set(archive.namelist()) == {"SKILL.md", *FILES}
        assert archive.read("data.bin") == FILES["data.bin"]


def test_the_bundle_has_the_same_bytes_from_the_project_and_from_disk(
    project: Project, library: Path, operator: Actor, api: Callable[..., Api]
) -> None:
    on_disk(library, files=FILES)
    bot = api("read")
    bundled = bot.get("/skills/greeting/bundle.zip").content
    create_skill(project, skill_bundle(files=FILES), by=operator)
    assert bot.get("/skills/greeting").json()["source"] == "project"
    assert bot.get("/skills/greeting/bundle.zip").content == bundled


# -- Symlinks and changes on disk --------------------------------------------------------------------------


def test_a_symlink_out_of_the_directory_is_not_followed(library: Path, tmp_path: Path, reader: Api) -> None:
    (tmp_path / "secret.txt").write_text("root:x:0:0")
    (on_disk(library) / "notes.txt").symlink_to(tmp_path / "secret.txt")
    response = ask(reader, "notes.txt")
    problem(response, 404, "not-found")
    (row,) = reader.get("/diagnostics").json()["results"]
    assert row["file"] == "notes.txt"


def test_a_file_that_becomes_a_symlink_after_indexing_is_not_followed(
    library: Path, tmp_path: Path, reader: Api
) -> None:
    (tmp_path / "secret.txt").write_text("root:x:0:0")
    file = on_disk(library, files={"notes.txt": b"harmless"}) / "notes.txt"
    assert reader.get("/skills/greeting").status_code == 200
    file.unlink()
    file.symlink_to(tmp_path / "secret.txt")
    response = ask(reader, "notes.txt")
    assert b"root" not in response.content
    problem(response, 404, "not-found")


def test_a_file_changed_after_indexing_is_read_in_its_new_state(library: Path, reader: Api) -> None:
    directory = on_disk(library, files={"notes.txt": b"old text"})
    before = reader.get("/skills/greeting")
    (directory / "notes.txt").write_bytes(b"new text, and longer")
    response = ask(reader, "notes.txt")
    assert response.json()["content"] == "new text, and longer"
    assert response.json()["digest"] == skill_bundle(files={"notes.txt": b"new text, and longer"}).digest
    assert response.json()["digest"] != before.json()["digest"]
    assert ask(reader, "notes.txt")["ETag"] == response["ETag"]


def test_a_bundle_changed_after_indexing_is_read_in_its_new_state(library: Path, reader: Api) -> None:
    directory = on_disk(library, files={"notes.txt": b"old text"})
    reader.get("/skills/greeting")
    (directory / "notes.txt").write_bytes(b"new text, and longer")
    with zipfile.ZipFile(BytesIO(reader.get("/skills/greeting/bundle.zip").content)) as archive:
        assert archive.read("notes.txt") == b"new text, and longer"


def test_a_file_removed_after_indexing_is_not_found(library: Path, reader: Api) -> None:
    file = on_disk(library, files={"notes.txt": b"here"}) / "notes.txt"
    reader.get("/skills/greeting")
    file.unlink()
    problem(ask(reader, "notes.txt"), 404, "not-found")
    assert [entry["path"] for entry in reader.get("/skills/greeting").json()["files"]] == ["SKILL.md"]


def test_a_file_changed_back_and_forth_is_current_each_time(library: Path, reader: Api) -> None:
    directory = on_disk(library, files={"notes.txt": b"first"})
    for content in (b"first", b"second one", b"first"):
        (directory / "notes.txt").write_bytes(content)
        built_in.index().refresh()
        body = ask(reader, "notes.txt").json()
        assert body["content"].encode() == content
        files = {entry["path"]: entry["digest"] for entry in reader.get("/skills/greeting").json()["files"]}
        assert files["notes.txt"] == content_digest(content)


# -- Versions ----------------------------------------------------------------------------------------------


def test_an_old_version_is_read_by_its_version_number(project: Project, operator: Actor, reader: Api) -> None:
    first = create_skill(project, skill_bundle(files={"a.txt": b"one"}), by=operator).version
    save_skill(project, "greeting", skill_bundle(files={"a.txt": b"two"}), base=first.digest, by=operator)
    assert ask(reader, "a.txt", version="1").json()["content"] == "one"
    assert ask(reader, "a.txt").json()["content"] == "two"
    for near in ("", "01", "1.0", "latest", " 1"):
        problem(ask(reader, "a.txt", version=near), 404, "not-found")


def test_a_yanked_version_cannot_be_loaded_read_or_downloaded(project: Project, operator: Actor, reader: Api) -> None:
    first = create_skill(project, skill_bundle(files={"a.txt": b"one"}), by=operator).version
    save_skill(project, "greeting", skill_bundle(files={"a.txt": b"two"}), base=first.digest, by=operator)
    kept = reader.get("/skills/greeting?version=2")["ETag"]
    yank_version(project, "greeting", "2", reason="Wrong.", by=operator)
    for path in ("/skills/greeting", "/skills/greeting/files/a.txt", "/skills/greeting/bundle.zip"):
        problem(reader.get(path, version="2"), 404, "not-found")
        assert reader.get(path).status_code == 200
    problem(reader.get("/skills/greeting?version=2", headers={"If-None-Match": kept}), 404, "not-found")
    assert reader.get("/skills/greeting").json()["version"] == "1"
