"""Tells a zip from the text of a SKILL.md among bytes that came over HTTP, and both from a web page."""

from pathlib import PurePosixPath

ZIP, TEXT, PAGE = "zip", "text", "page"

_BY_SUFFIX = {".zip": ZIP, ".md": TEXT, ".markdown": TEXT, ".txt": TEXT}
_LOOKED_AT = 1_024
_PAGE_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<script", b"<meta")
_HEADER_START = b"---"
_ZIP_START = b"PK\x03\x04"


def kind_of(path: str, content_type: str, body: bytes) -> str:
    """By the extension of the path (without its query, in any case), then the Content-Type, else text.

    What neither tells and no text begins with is a zip all the same: where files are kept, a redirect often leads to an
    address without extension that calls everything bytes.
    A web page is a page whatever its address or the server call it: sign-in and error pages stand at any address.
    """
    if is_page(content_type, body):
        return PAGE
    known = _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())
    return known or (ZIP if "zip" in content_type.lower() or body.startswith(_ZIP_START) else TEXT)


def is_page(content_type: str, body: bytes) -> bool:
    start = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while start.startswith(b"<!--"):
        start = start.partition(b"-->")[2].lstrip()
    if start.startswith(_PAGE_STARTS):
        return True
    called_page = content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")
    return called_page and not start.startswith(_HEADER_START) and not body.startswith(b"PK")
