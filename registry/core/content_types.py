"""Content types of served files. Types that are not listed here are served as a binary download."""

from collections.abc import Callable
from pathlib import PurePosixPath

from registry.core.errors import NotText, TooLarge
from registry.core.limits import Limits

OCTETS = "application/octet-stream"

_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".markdown": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/plain; charset=utf-8",
    ".py": "text/plain; charset=utf-8",
    ".sh": "text/plain; charset=utf-8",
    ".yaml": "text/plain; charset=utf-8",
    ".yml": "text/plain; charset=utf-8",
    ".toml": "text/plain; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".zip": "application/zip",
}

MEDIA_TYPES = frozenset(kind.partition(";")[0] for kind in _TYPES.values()) | {OCTETS}

# Keep a browser from running or loading anything in a file, whatever its content.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}


def content_type(path: str) -> str:
    return _TYPES.get(PurePosixPath(path).suffix.lower(), OCTETS)


def is_attachment(path: str) -> bool:
    return content_type(path) == OCTETS


def is_image(path: str) -> bool:
    return content_type(path).startswith("image/")


def decode_text(path: str, size: int, read: Callable[[], bytes], *, limits: Limits) -> str:
    """Return a file as text. Raise TooLarge or NotText if it is too long for a prompt or binary."""
    if size > limits.text_read_bytes:
        raise TooLarge(
            f"{path} has {size:,} bytes. {limits.text_read_bytes:,} are allowed as text. Download it instead."
        )
    try:
        text = read().decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotText(f"{path} is binary. Download it instead.")
    return text
