"""Evidence shown so that it leads nobody astray: links are text, and the host of each stands apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.safestring import SafeString

from registry.web.render import marked_text


@dataclass(frozen=True, slots=True)
class Evidence:
    """`host` of a link is in plain letters, so that one that only looks like another is seen."""

    kind: str
    text: SafeString
    host: str = ""


def drawn(piece: Mapping[str, str]) -> Evidence:
    host = _host(piece["text"]) if piece["kind"] == "link" else ""
    return Evidence(piece["kind"], marked_text.words(piece["text"]), host)


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError):
        return "an address that cannot be read"
