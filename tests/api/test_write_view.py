"""Behaviour of every write: bodies that cannot be read, limits of size, chunked bodies, and the rate limit."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from registry.core.archive.zip_bundle import write_zip
from registry.models import Project
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"{malformed", b"\xff\xfe", b'{"skill_md": NaN}', b"[" * 100_000,
        b'{"a":' * 50_000, b'{"skill_md": ' + b"9" * 5_000 + b"}", b"\0",
    ],
)  # fmt: skip
def test_a_body_that_is_not_json_is_refused(bot: Api, body: bytes) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", "/skills", body), 400, "invalid-request")


def test_another_media_type_is_refused(bot: Api) -> None:
    response = bot.client.post(f"{bot.base}/skills", "a=b", content_type="text/plain", headers=bot.headers)
    problem(response, 415, "unsupported-media-type")


def test_an_unacceptable_accept_header_is_refused_before_anything_is_stored(bot: Api) -> None:
    with nothing_left_behind():
        response = bot.send("POST", "/skills", {"skill_md": skill_text()}, {"Accept": "image/png"})
    problem(response, 406, "not-acceptable")


class Unread:
    """A body that must not be read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = read


@pytest.mark.parametrize("path", ["/skills", "/bundles", "/skills/greeting/versions/1/yank"])
def test_too_large_a_request_is_refused_before_its_body_is_read(
    project: Project, operator: Actor, bot: Api, path: str
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    with nothing_left_behind():
        response = bot.client.generic(
            "POST",
            f"{bot.base}{path}",
            content_type="application/json",
            headers=bot.headers,
            **{"CONTENT_LENGTH": str(60 * 1024 * 1024), "wsgi.input": Unread()},  # type: ignore[arg-type]
        )
    body = problem(response, 413, "too-large")
    assert "62,914,560 bytes" in body["detail"]
    assert body["detail"].endswith("Nothing was saved.")


@pytest.mark.parametrize("length", ["-1", "abc", "9" * 5_000, "1.5"])
def test_a_content_length_that_is_not_a_number_is_refused(bot: Api, length: str) -> None:
    response = bot.client.generic(
        "POST", f"{bot.base}/skills", content_type="application/json", headers=bot.headers, CONTENT_LENGTH=length
    )
    problem(response, 400, "invalid-request")


class Endless:
    """A chunked body without an end. `taken` counts the bytes that were read."""

    taken = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "it would be read whole"
        self.taken += size
        return b"x" * size

    readline = read


def in_chunks(bot: Api, path: str, body: Any, kind: str = "application/json") -> Any:
    """Send a body without Content-Length, as the web server passes on a chunked one."""
    sent: dict[str, Any] = {"CONTENT_TYPE": kind, "wsgi.input": body, "wsgi.input_terminated": True}
    return bot.client.generic("POST", f"{bot.base}{path}", headers=bot.headers, **sent)


def test_a_chunked_body_is_read(bot: Api) -> None:
    body = json.dumps({"skill_md": skill_text("in-chunks")}).encode()
    assert in_chunks(bot, "/skills", BytesIO(body)).json()["name"] == "in-chunks"


def test_a_chunked_zip_is_read(bot: Api) -> None:
    whole = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("a.zip", write_zip(skill_bundle("zipped")))})
    assert in_chunks(bot, "/bundles", BytesIO(whole), MULTIPART_CONTENT).json()["name"] == "zipped"


@pytest.mark.parametrize(("path", "allowed"), [("/skills", 4 * 1024 * 1024), ("/bundles", 50 * 1024 * 1024)])
def test_a_chunked_body_is_read_up_to_the_limit(bot: Api, path: str, allowed: int) -> None:
    body = Endless()
    with nothing_left_behind():
        problem(in_chunks(bot, path, body), 413, "too-large")
    assert allowed < body.taken < allowed + 1024 * 1024


@pytest.mark.parametrize("scope", ["read", "propose"])
def test_a_chunked_body_is_not_read_without_permission(api: Callable[..., Api], scope: str) -> None:
    problem(in_chunks(api(scope, agent=scope), "/skills", Unread()), 403, "forbidden")


def test_a_write_shows_its_rate_limit(bot: Api) -> None:
    with override_settings(RATE_LIMIT_WRITE=600):
        response = bot.send("POST", "/skills", {"skill_md": skill_text()})
    assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("600", "599")
