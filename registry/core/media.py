"""Which content types leave our doors. Everything not on the short list is a download of plain bytes."""

from pathlib import PurePosixPath

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

KINDS = frozenset(kind.partition(";")[0] for kind in _TYPES.values()) | {OCTETS}

# A browser that is shown these bytes runs nothing and loads nothing, whatever they pretend to be.
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
