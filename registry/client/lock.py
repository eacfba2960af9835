"""`skillsite.lock`: which skills a pull placed in a directory, from where, and as which bytes."""

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
class Placed:
    """`replaces` is set while a pull is under way: until it is done, either of the two digests may be found."""

    version: str
    digest: str
    source: str
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Lock:
    source: str
    skills: Mapping[str, Placed] = field(default_factory=dict)


def read(directory: Path) -> Lock | None:
    path = directory / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LocalProblem(f"{path} cannot be read: {error.strerror or error}.") from error
    try:
        said = json.loads(text)
        if said["lock"] != _FORMAT:
            raise LocalProblem(
                f"{path} was written by another release of the client. Use that one, or delete the file."
            )
        return Lock(str(said["source"]), {str(name): _placed(one) for name, one in said["skills"].items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LocalProblem(
            f"{path} is damaged. Restore it, or delete it and pull with --force, which overwrites local edits."
        ) from error


def write(directory: Path, lock: Lock) -> None:
    """Nothing is written where nothing changed, so that version control sees no change either."""
    said = {
        "lock": _FORMAT,
        "source": lock.source,
        "skills": {name: _said(one) for name, one in lock.skills.items()},
    }
    text = f"{json.dumps(said, ensure_ascii=False, indent=2, sort_keys=True)}\n".encode()
    path = directory / NAME
    if not path.is_file() or path.read_bytes() != text:
        files.write_atomically(path, text, prefix=_TEMPORARY_PREFIX)


def _placed(one: Any) -> Placed:
    return Placed(str(one["version"]), str(one["digest"]), str(one["source"]), str(one.get("replaces", "")))


def _said(one: Placed) -> dict[str, str]:
    said = {"version": one.version, "digest": one.digest, "source": one.source}
    return said | ({"replaces": one.replaces} if one.replaces else {})
