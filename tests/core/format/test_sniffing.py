"""Detection of zips, texts and web pages."""

import pytest

from registry.core.format.sniffing import PAGE, TEXT, ZIP, kind_of

SKILL = b"---\nname: a\n---\n"


@pytest.mark.parametrize(
    ("path", "content_type", "kind"),
    [
        ("/a.zip", "text/plain", ZIP),
        ("/A.ZIP", "", ZIP),
        ("/a.md", "application/zip", TEXT),
        ("/a.MarkDown", "application/octet-stream", TEXT),
        ("/a.txt", "", TEXT),
        ("/a.zip/", "", ZIP),
        ("/download", "application/x-zip-compressed", ZIP),
        ("/download", "Application/ZIP; x=y", ZIP),
        ("/download", "application/octet-stream", TEXT),
        ("/zip", "", TEXT),
        ("", "", TEXT),
    ],
)
def test_the_extension_decides_before_the_content_type(path: str, content_type: str, kind: str) -> None:
    assert kind_of(path, content_type, SKILL) == kind


def test_bytes_with_a_zip_signature_are_a_zip_by_default() -> None:
    assert kind_of("/github-production-release-asset/1", "application/octet-stream", b"PK\x03\x04") == ZIP
    assert kind_of("/a.md", "application/octet-stream", b"PK\x03\x04") == TEXT


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><title>404</title>",
        b"\xef\xbb\xbf\n  <HTML lang=en>",
        b"<!-- a page --><!-- of ours -->\n<head>",
        b"<script>location='/'</script>",
    ],
)
@pytest.mark.parametrize(("path", "content_type"), [("/a.zip", "application/zip"), ("/SKILL.md", "text/markdown")])
def test_a_web_page_is_detected_whatever_its_content_type(path: str, content_type: str, body: bytes) -> None:
    assert kind_of(path, content_type, body) == PAGE


def test_html_content_type_means_a_page_unless_the_text_is_a_skill() -> None:
    assert kind_of("/SKILL.md", "text/html; charset=utf-8", b"Not found") == PAGE
    assert kind_of("/SKILL.md", "text/html", SKILL) == TEXT
    assert kind_of("/a.zip", "text/html", b"PK\x03\x04") == ZIP


def test_an_unclosed_comment_does_not_hang() -> None:
    assert kind_of("/a.md", "", b"<!-- " * 500) == TEXT
