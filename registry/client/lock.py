"""The lock file `skillsite.lock`: the skills that a pull installed in a directory, with source, version and digest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.client.errors import LocalProblem
from registry.lib import files

NAME = "skillsite.lock"
_FORMAT = 1
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
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LocalProblem(f"Could not read {path}: {error.strerror or error}.") from error
    try:
        data = json.loads(text)
        if data["lock"] != _FORMAT:
            raise LocalProblem(
                f"{path} was written by another version of the client. Use that version, or delete the file."
            )
        return Lock(str(data["source"]), {str(name): _parse(entry) for name, entry in data["skills"].items()})
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
    if not path.is_file() or path.read_bytes() != text:
        files.write_atomically(path, text, prefix=_TEMPORARY_PREFIX)


def _parse(entry: Any) -> LockEntry:
    return LockEntry(str(entry["version"]), str(entry["digest"]), str(entry["source"]), str(entry.get("replaces", "")))


def _to_json(entry: LockEntry) -> dict[str, str]:
    data = {"version": entry.version, "digest": entry.digest, "source": entry.source}
    return data | ({"replaces": entry.replaces} if entry.replaces else {})
