"""`/resolved`: files of resolved skills, as text and as downloads."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from registry.core.bundle import SKILL_MD, content_digest
from tests.api.contract import problem
from tests.api.resolve.requests import ask, inline, resolve
from tests.conftest import Api, skill_bundle, skill_text
from tests.remote.web import Web, zipped
from tests.services.receivers import answering

FILES = {
    "references/tone.md": "Grüße — freundlich.\n".encode(),
    "data.bin": bytes(range(256)),
    "long.txt": b"x" * 128_001,
    "page.html": b"<script>alert(1)</script>",
    "a b & c.txt": b"odd name",
}


@pytest.fixture
def packed(bot: Api, web: Web) -> dict[str, Any]:
    bundle = skill_bundle("a", FILES)
    return resolve(bot, {"name": "a", "version": "3", "url": web.put("/a.zip", zipped(dict(bundle)))})[0]


def test_a_text_file_is_returned_with_its_path_and_version(bot: Api, packed: dict[str, Any]) -> None:
    assert ask(bot, "references/tone.md", digest=packed["digest"]).json() == {
        "name": "a", "source": "resolved", "version": "3", "digest": packed["digest"], "path": "references/tone.md",
        "size": len(FILES["references/tone.md"]), "content": FILES["references/tone.md"].decode(),
        "origin": packed["origin"],
    }  # fmt: skip


def test_every_listed_file_can_be_read(bot: Api, packed: dict[str, Any]) -> None:
    for file in packed["files"]:
        answer = ask(bot, quote(file["path"]), digest=packed["digest"], download="1")
        assert content_digest(answer.content) == file["digest"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_file_that_a_browser_would_run_is_an_attachment(bot: Api, packed: dict[str, Any]) -> None:
    answer = ask(bot, "page.html", digest=packed["digest"], download="1")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize("digest", ["", "sha256:", "x", "sha256:" + "g" * 64])
def test_a_request_without_a_valid_digest_is_refused(bot: Api, packed: dict[str, Any], digest: str) -> None:
    """Otherwise a reader would get whatever copy is there now."""
    body = problem(ask(bot, SKILL_MD, digest=digest), 400, "invalid-request")
    assert "digest" in body["detail"]
    assert "sha256:…" in body["detail"]


@pytest.mark.parametrize(("path", "status", "code"), [("data.bin", 415, "not-text"), ("long.txt", 413, "too-large")])
def test_a_binary_or_long_file_answers_with_a_download_link(
    bot: Api, packed: dict[str, Any], path: str, status: int, code: str
) -> None:
    body = problem(ask(bot, path, digest=packed["digest"]), status, code)
    assert bot.client.get(body["download"], headers=bot.headers).content == FILES[path]
    assert quote(packed["digest"], safe="") in body["download"]


def test_an_inline_text_changes_nothing_that_others_read(bot: Api, packed: dict[str, Any], api: Any) -> None:
    """Texts and packages of one name and version are all served, each under its digest."""
    texts = [skill_text("a", body=body) for body in ("one", "two")]
    digests = [resolve(api("read", agent=f"a-{n}"), inline(text=text))[0]["digest"] for n, text in enumerate(texts)]
    for digest, text in zip(digests, texts, strict=True):
        assert ask(bot, SKILL_MD, digest=digest).json()["content"] == text
    assert ask(bot, SKILL_MD, digest=packed["digest"]).json()["content"] == skill_text("a")
    answer = problem(ask(bot, SKILL_MD, digest="sha256:" + "0" * 64), 409, "conflict")
    assert answer["digest"] == packed["digest"]


def test_a_copy_changed_on_disk_is_a_conflict(bot: Api, packed: dict[str, Any], volume: Path) -> None:
    file = volume / "projects" / "demo" / "skills" / "a" / "3" / "references" / "tone.md"
    file.write_text("changed")
    problem(ask(bot, "references/tone.md", digest=packed["digest"]), 409, "conflict")


def test_the_name_matches_as_sent_or_normalised(bot: Api) -> None:
    odd = resolve(bot, inline("Odd Name", skill_text("odd-name")))[0]["digest"]
    plain = resolve(bot, inline("plain", skill_text("plain")))[0]["digest"]
    assert ask(bot, SKILL_MD, "Odd%20Name", digest=odd).json()["name"] == "Odd Name"
    assert ask(bot, SKILL_MD, "%20PLAIN", digest=plain).json()["name"] == "plain"
    problem(ask(bot, SKILL_MD, "odd%20name", digest=odd), 404, "not-found")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("missing.md", 404), ("references", 404), ("references/", 400), ("../x", 400), ("..%2f..%2fx", 400),
        ("%2fetc%2fpasswd", 400), ("~", 400), ("a%5cb", 400), (".", 400), ("references/../../x", 400),
    ],
)  # fmt: skip
def test_a_path_that_is_not_a_file_of_the_copy_is_refused(
    bot: Api, packed: dict[str, Any], path: str, status: int
) -> None:
    problem(ask(bot, path, digest=packed["digest"]), status, "not-found" if status == 404 else "unsafe-path")


def test_a_path_that_leaves_the_copy_is_called_a_traversal(bot: Api, packed: dict[str, Any]) -> None:
    body = problem(ask(bot, "..%2f..%2fx", digest=packed["digest"]), 400, "unsafe-path")
    assert body["detail"].startswith("Path traversal detected.")


@pytest.mark.parametrize(
    ("name", "version", "status"),
    [("b", "3", 404), ("a", "4", 404), ("a", ".records", 400), ("..", "3", 400), ("a", "..", 400)],
)
def test_an_unresolved_skill_is_not_found(
    bot: Api, packed: dict[str, Any], name: str, version: str, status: int
) -> None:
    assert ask(bot, SKILL_MD, name, version).status_code == status


def test_a_repeated_read_answers_304(bot: Api, packed: dict[str, Any]) -> None:
    first = ask(bot, SKILL_MD, digest=packed["digest"])
    path, headers = f"/resolved/a/3/files/{SKILL_MD}", {"If-None-Match": first["ETag"]}
    again = bot.get(path, headers=headers, digest=packed["digest"])
    assert (again.status_code, again.content) == (304, b"")
    other = resolve(bot, inline(text=skill_text("a", body="other")))[0]["digest"]
    assert bot.get(path, headers=headers, digest=other).status_code == 200


def test_no_answer_contains_a_path_of_the_server(bot: Api, web: Web, volume: Path, packed: dict[str, Any]) -> None:
    web.behave("/bad.zip", answering(200, b"no zip"))
    texts = [
        json.dumps(resolve(bot, {"name": "bad", "url": web.url("/bad.zip")}, inline())),
        ask(bot, SKILL_MD, digest=packed["digest"]).content.decode(),
        ask(bot, "missing", digest=packed["digest"]).content.decode(),
    ]
    assert not any(str(volume) in text for text in texts)
