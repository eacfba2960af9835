"""Logs of the resolver: each failure, and no secrets."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.remote import resolver
from registry.remote.resolver import Resolved
from tests.conftest import skill_text
from tests.remote.conftest import Resolve
from tests.remote.entries import TEXT, entry, inline, only
from tests.remote.web import Web, zipped
from tests.services.receivers import answering


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO):
        yield


def said(results: list[Resolved]) -> list[tuple[str, str]]:
    return [(one.status, one.reason) for one in results]


def test_an_unexpected_error_is_logged_without_its_message(
    resolve: Resolve, web: Web, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise ValueError("-".join(("signature=very", "secret")))

    monkeypatch.setattr(resolver.download, "fetch", crash)
    results = resolve(entry(web.url("/a.zip")), inline(skill_text("b"), name="b"))
    assert [one.status for one in results] == ["skipped", "loaded"]
    assert "in the log of the site" in results[0].reason
    assert "ValueError" in caplog.text
    assert "very-secret" not in caplog.text


def test_each_failure_is_logged_with_name_version_and_address(
    resolve: Resolve, web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    resolve(entry(web.url("/x.zip"), version="2.0"), {"Format": "Git", "Name": "odd"})
    lines = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(lines) == 2
    text = lines[0].getMessage() + lines[1].getMessage()
    for part in ("'a'", "'2.0'", web.url("/x.zip"), "status 404", "'odd'", "Unknown format"):
        assert part in text


@pytest.mark.parametrize(
    "behaviour", [answering(404), answering(302, Location="https://127.0.0.1/?sig=very-secret"), answering(200, b"x")]
)
def test_a_signed_address_is_neither_logged_nor_answered_nor_kept(
    resolve: Resolve, web: Web, root: Path, caplog: pytest.LogCaptureFixture, behaviour: Any
) -> None:
    """Nor does a program that logs all there is to log, and only uses the function."""
    for logger in ("httpx", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, logger=logger)
    url = web.behave("/a.zip", behaviour) + "?X-Amz-Signature=very-secret&X-Amz-Credential=key"
    failed = only(resolve(entry(url)))
    good = only(resolve(entry(web.put("/b.md", skill_text("b")) + "?sig=very-secret", name="b")))
    written = "".join(path.read_text() for path in root.rglob("*") if path.is_file())
    for text in (caplog.text, str(failed), str(good), written, json.dumps(said([failed, good]))):
        assert "very-secret" not in text
        assert "Credential" not in text
    assert web.url("/b.md") in (good.origin, written)


@pytest.mark.parametrize(
    "files", [{"notes.md": "x"}, {"a/b/SKILL.md": TEXT}, {"skill.md": TEXT}, {"x/skill.md": TEXT}], ids=str
)
def test_a_zip_without_skill_md_at_its_root_is_logged_in_the_words_of_platforms(
    resolve: Resolve, web: Web, caplog: pytest.LogCaptureFixture, files: dict[str, bytes | str]
) -> None:
    found = only(resolve(entry(web.put("/a.zip", zipped(files)))))
    assert found.reason.startswith("Expected SKILL.md file missing at folder root. SKILL.md is")
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "Expected SKILL.md file missing at folder root" in line


def test_a_zip_with_a_path_that_leaves_its_folder_is_logged_as_traversal(
    resolve: Resolve, web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    assert only(resolve(entry(web.put("/a.zip", zipped({"SKILL.md": TEXT, "../x": "x"}))))).status == "skipped"
    assert "Path traversal detected" in caplog.text


def test_a_name_cannot_write_lines_into_the_log(resolve: Resolve, caplog: pytest.LogCaptureFixture) -> None:
    resolve({"name": "a\n2026 ERROR forged", "version": "1\r\nforged", "content": TEXT})
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "\n" not in line
