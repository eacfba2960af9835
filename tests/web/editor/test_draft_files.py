"""Files of a draft in the editor."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.models import Draft, Version
from tests.web.editor.forms import EDIT, HTMX, NEW, post


def test_added_files_go_to_their_default_folders(browser: Client) -> None:
    files = [SimpleUploadedFile(name, b"x") for name in ("a.md", "b.py", "c.png")]
    assert post(browser, NEW, "add", files=files).status_code == 302
    assert [entry.path for entry in Draft.objects.get().manifest] == ["assets/c.png", "references/a.md", "scripts/b.py"]
    assert Draft.objects.get().content["fields"]["name"] == "tea-round"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [SimpleUploadedFile("SKILL.md", b"x")],
        [SimpleUploadedFile("a.md", b"x"), SimpleUploadedFile("a.md", b"y")],
        [SimpleUploadedFile("con.md", b"x")],
        [SimpleUploadedFile("a?b.md", b"x")],
    ],
)
def test_a_refused_file_keeps_the_typed_text(browser: Client, sent: list[SimpleUploadedFile]) -> None:
    answer = post(browser, NEW, "add", files=sent)
    assert answer.status_code == 422
    assert "Boil water." in answer.content.decode()
    assert Draft.objects.get().manifest == ()


def test_files_are_removed_and_restored(browser: Client, greeting: Version) -> None:
    post(browser, EDIT, "remove:references/names.md", base=greeting.digest)
    assert "Restore" in browser.get(EDIT).content.decode()
    answer = post(browser, EDIT, "restore:references/names.md", HTMX)
    assert "references/<wbr>names.md" in answer.content.decode()
    assert post(browser, EDIT, "remove:nothing").status_code == 422
    assert post(browser, EDIT, "open:nothing").status_code == 404


def test_a_new_text_file_opens_on_its_own_page(browser: Client) -> None:
    answer = post(browser, NEW, "create", new_path="references/rates.md")
    page = answer.headers["Location"]
    assert page == f"{NEW}files/references/rates.md"
    browser.post(page, {"do": "save", "path": "references/prices.md", "text": "One\r\nTwo\r\n"})
    assert browser.get(f"{NEW}raw/references/prices.md").content == b"One\nTwo\n"
    assert browser.get(page).status_code == 404


@pytest.mark.parametrize("path", ["../x.md", "/x", "SKILL.md", "a\\b", ""])
def test_a_refused_path_keeps_the_typed_text(browser: Client, greeting: Version, path: str) -> None:
    assert post(browser, EDIT, "create", new_path=path).status_code == 422
    if path:
        url = f"{EDIT}files/references/names.md"
        answer = browser.post(url, {"do": "save", "path": path, "text": "Typed words"})
        assert answer.status_code == 422
        assert "Typed words" in answer.content.decode()


def test_a_file_is_replaced_and_removed(browser: Client, greeting: Version) -> None:
    url = f"{EDIT}files/assets/logo.png"
    browser.post(url, {"do": "save", "replacement": SimpleUploadedFile("other.png", b"\x89PNG2")})
    assert browser.get(f"{EDIT}raw/assets/logo.png").content == b"\x89PNG2"
    browser.post(url, {"do": "remove"})
    assert browser.get(url).status_code == 404


def test_raw_files_of_a_draft_cannot_run_in_a_browser(browser: Client) -> None:
    files = [
        SimpleUploadedFile("page.html", b"<script>alert(1)</script>"),
        SimpleUploadedFile("x.svg", b"<svg onload=a>"),
    ]
    post(browser, NEW, "add", files=files)
    for name in ("page.html", "x.svg"):
        answer = browser.get(f"{NEW}raw/assets/{name}")
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer["Content-Security-Policy"]


def test_a_too_large_request_names_both_sizes(browser: Client, settings: Any) -> None:
    from registry.core.limits import Limits

    settings.LIMITS = Limits(archive_bytes=100)
    answer = post(browser, NEW, "add", files=SimpleUploadedFile("a.bin", b"x" * 70_000))
    assert answer.status_code == 422
    assert "100 are allowed" in answer.content.decode()
    assert Draft.objects.get().manifest == ()
