"""Parts of a URL, and its form without credentials."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Parts:
    scheme: str
    host: str  # with the port, unless it is the default
    path: str
    has_user: bool


@lru_cache(maxsize=512)
def parts(url: str) -> Parts | None:
    """Return the parts of a URL, or None if it is invalid."""
    text = url.strip()
    if not text.isprintable() or " " in text:
        return None
    try:
        split = urlsplit(text)
        port = split.port
    except ValueError:
        return None
    host = (split.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS.get(split.scheme):
        host = f"{host}:{port}"
    return Parts(split.scheme, host, split.path or "/", "@" in split.netloc)


def plain(url: str) -> str:
    """Return scheme, host and path, normalised for comparison and display."""
    split = parts(url)
    if split is None or not split.host:
        return "an invalid address"
    return f"{split.scheme}://{split.host}{split.path}"
