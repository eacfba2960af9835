"""Detects if an HTTP response is a zip, a SKILL.md or a web page."""

from pathlib import PurePosixPath

ZIP, TEXT, PAGE = "zip", "text", "page"

_BY_SUFFIX = {".zip": ZIP, ".md": TEXT, ".markdown": TEXT, ".txt": TEXT}
_SNIFFED_BYTES = 1_024
_PAGE_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<script", b"<meta")
_HEADER_START = b"---"
_ZIP_START = b"PK\x03\x04"


def kind_of(path: str, content_type: str, body: bytes) -> str:
    """Return ZIP, TEXT or PAGE by the extension of the path, then the Content-Type, then the first bytes.

    File hosts often redirect to addresses without an extension and a generic Content-Type, so the bytes decide there.
    A web page is always a PAGE, because any address may answer with a sign-in or error page.
    """
    if is_page(content_type, body):
        return PAGE
    known = _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    return known or (ZIP if "zip" in content_type.lower() or body.startswith(_ZIP_START) else TEXT)


def is_page(content_type: str, body: bytes) -> bool:
    start = body[:_SNIFFED_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while start.startswith(b"<!--"):
        start = start.partition(b"-->")[2].lstrip()
    if start.startswith(_PAGE_STARTS):
        return True
    called_page = content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")
    return called_page and not start.startswith(_HEADER_START) and not body.startswith(b"PK")
