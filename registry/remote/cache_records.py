"""Records of cached skills: their origin, and facts from their SKILL.md.

A record is a file in `{name}/.records/{version}/`, named after the digest of the content that it describes. It is
written before the directory appears, each writer has its own file, and no record is ever changed. So record and
directory never contradict each other, whenever a process is killed.
"""

import contextlib
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from registry.lib import files

RECORDS = ".records"

_SUFFIX = ".json"
_UNREADABLE = (OSError, ValueError, TypeError, RecursionError)
_USED_AGAIN_SECONDS = 600.0  # resolution of the time of last use


@dataclass(frozen=True, slots=True)
class Record:
    """`size` is what the copy counts against the quota of `by`, the token that stored it."""

    origin: str
    digest: str
    description: str
    tokens: int
    size: int = 0
    by: str = ""


class Records:
    """Records of one version."""

    def __init__(self, parent: Path, version: str) -> None:
        self.directory = parent / RECORDS / version
        self.text = str(self.directory)

    def write(self, record: Record, *, durable: bool = True) -> Path:
        """Write a record and return its path."""
        files.make_directories(self.directory)
        target = self.directory / f"{_hex(record.digest)}-{secrets.token_hex(4)}{_SUFFIX}"
        text = json.dumps(asdict(record), ensure_ascii=False, sort_keys=True)
        files.write_atomically(target, text.encode(errors="replace"), mode=files.PRIVATE_FILE, durable=durable)
        return target

    def names(self) -> list[str]:
        try:
            with os.scandir(self.directory) as entries:
                return [entry.name for entry in entries if entry.name.endswith(_SUFFIX)]
        except FileNotFoundError:
            return []

    def has(self, digest: str) -> bool:
        """Return whether there is a record of a digest. This does not count as a use."""
        return any(name.startswith(_hex(digest)) for name in self.names())

    def find(self, digest: str, origin: str = "") -> tuple[Record | None, bool]:
        """Return the record of a digest, preferably of this origin, and whether there is any record at all."""
        names = self.names()
        matching = [name for name in names if name.startswith(_hex(digest))]
        records = [record for name in sorted(matching) if (record := self._read(name, digest)) is not None]
        best = next((record for record in records if record.origin == origin), records[0] if records else None)
        return best, bool(names)

    def _read(self, name: str, digest: str) -> Record | None:
        path = self.directory / name
        try:
            with path.open("rb") as file:
                fields = json.loads(file.read())
                used = os.fstat(file.fileno()).st_mtime
            record = _checked(fields)
        except _UNREADABLE:
            return None
        if time.time() - used > _USED_AGAIN_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(path)
        return record if record.digest == digest else None

    def drop(self, *, before: float, but: str = "") -> list[Path]:
        """Delete records last used before a time, except those of the digest `but`. Return their paths."""
        dropped = []
        for path in (self.directory / name for name in self.names()):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < before and not (but and path.name.startswith(_hex(but))):
                    path.unlink()
                    dropped.append(path)
        return dropped

    def newest(self) -> Record | None:
        """Return the record that was used last. This does not count as a use."""
        for path in sorted((self.directory / name for name in self.names()), key=_modified, reverse=True):
            with contextlib.suppress(*_UNREADABLE):
                return _checked(json.loads(path.read_bytes()))
        return None

    def last_used(self) -> float:
        """Return the time of the newest record, or 0 if there is none."""
        newest = 0.0
        for name in self.names():
            with contextlib.suppress(OSError):
                newest = max(newest, (self.directory / name).stat().st_mtime)
        return newest


def _checked(fields: Any) -> Record:
    """Return the record. Raise TypeError for fields that are missing, unknown or of another type."""
    record = Record(**fields)
    texts, numbers = (record.origin, record.digest, record.description, record.by), (record.tokens, record.size)
    if not all(type(text) is str for text in texts) or not all(type(number) is int for number in numbers):
        raise TypeError("A field of a record has another type.")
    return record


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
