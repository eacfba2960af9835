"""The parts of a web address, and the part of it that may be shown: what follows the path may be a credential."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Parts:
    scheme: str
    host: str  # with its port where that is not the usual one
    path: str
    has_user: bool


@lru_cache(maxsize=512)
def parts(url: str) -> Parts | None:
    """None where it cannot be read as an address."""
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
    """Scheme, host and path, in the spelling that is compared and shown."""
    found = parts(url)
    if found is None or not found.host:
        return "an address that cannot be read"
    return f"{found.scheme}://{found.host}{found.path}"
