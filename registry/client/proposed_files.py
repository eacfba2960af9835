"""The files of a proposal as JSON."""

from base64 import b64encode
from collections.abc import Mapping


def as_json(files: Mapping[str, bytes | str | None]) -> dict[str, str | dict[str, str] | None]:
    """Return each file as text, as Base64 if it is given as bytes, or as null to remove it."""
    return {
        path: {"base64": b64encode(content).decode()} if isinstance(content, bytes) else content
        for path, content in files.items()
    }
