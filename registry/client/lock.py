"""The lock file `skillsite.lock`: the skills that a pull installed in a directory, with source, version and digest."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.client import strict_json
from registry.client.errors import LocalProblem
from registry.client.files import read_limited
from registry.lib import files

NAME = "skillsite.lock"
_FORMAT = 1
_MAX_BYTES = 16 * 1024 * 1024
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TEMPORARY_PREFIX = ".skillsite-"  # tells the owner of the directory whose leftover it is


@dataclass(frozen=True, slots=True)
class LockEntry:
    """An installed skill. While a pull is running, the directory may have either `digest` or `replaces`."""

    version: str
    digest: str
    source: str
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    source: str
    skills: Mapping[str, LockEntry] = field(default_factory=dict)


def read(directory: Path) -> Lock | None:
    path = directory / NAME
    try:
        text = read_limited(path, _MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LocalProblem(f"Could not read {path}: {error.strerror or error}.") from error
    try:
        data = strict_json.parse(text)
        if data["lock"] != _FORMAT:
            raise LocalProblem(
                f"{path} was written by another version of the client. Use that version, or delete the file."
            )
        return Lock(_text(data, "source"), {name: _parse(entry) for name, entry in data["skills"].items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LocalProblem(
            f"{path} is damaged. Restore it, or delete it and pull with --force, which overwrites local edits."
        ) from error


def write(directory: Path, lock: Lock) -> None:
    """Write the lock file, unless it is unchanged, so that its modification time stays."""
    data = {
        "lock": _FORMAT,
        "source": lock.source,
        "skills": {name: _to_json(entry) for name, entry in lock.skills.items()},
    }
    text = f"{json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True)}\n".encode()
    path = directory / NAME
    try:
        unchanged = read_limited(path, _MAX_BYTES) == text
    except OSError:
        unchanged = False
    if not unchanged:
        files.write_atomically(path, text, prefix=_TEMPORARY_PREFIX)


def _parse(entry: Any) -> LockEntry:
    replaces = _digest(entry, "replaces") if "replaces" in entry else ""
    return LockEntry(_text(entry, "version"), _digest(entry, "digest"), _text(entry, "source"), replaces)


def _text(data: Any, key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is not a string")
    return value


def _digest(data: Any, key: str) -> str:
    value = _text(data, key)
    if not _DIGEST.fullmatch(value):
        raise ValueError(f"{key} is not a digest")
    return value


def _to_json(entry: LockEntry) -> dict[str, str]:
    data = {"version": entry.version, "digest": entry.digest, "source": entry.source}
    return data | ({"replaces": entry.replaces} if entry.replaces else {})
