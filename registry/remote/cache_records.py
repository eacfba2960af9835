"""What is known about the bytes of a copy: where they came from, and what their SKILL.md says.

A record stands in `{name}/.records/{version}/` and is named after the digest of the bytes it vouches for, so it is true
of the directory beside it or it is not about it. It is written before the directory appears, each writer has a file of
its own, and no record is ever changed: whatever moment a process is killed at, record and directory do not disagree.
"""

import contextlib
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from registry.lib import files

RECORDS = ".records"

_SUFFIX = ".json"
_USED_AGAIN_SECONDS = 600.0  # how exactly it is known when a copy was used last
_STALE_SECONDS = 120.0  # by then whoever wrote a record has put its directory in place, or never will


@dataclass(frozen=True, slots=True)
class Record:
    origin: str
    digest: str
    description: str
    tokens: int


class Records:
    """Those of one version."""

    def __init__(self, parent: Path, version: str) -> None:
        self.directory = parent / RECORDS / version
        self.text = str(self.directory)

    def write(self, record: Record) -> Path:
        """The file that now vouches for these bytes."""
        files.make_directories(self.directory)
        target = self.directory / f"{_hex(record.digest)}-{secrets.token_hex(4)}{_SUFFIX}"
        said = json.dumps(asdict(record), ensure_ascii=False, sort_keys=True)
        files.write_atomically(target, said.encode(errors="replace"), mode=files.PRIVATE_FILE)
        return target

    def names(self) -> list[str]:
        try:
            with os.scandir(self.directory) as entries:
                return [entry.name for entry in entries if entry.name.endswith(_SUFFIX)]
        except FileNotFoundError:
            return []

    def find(self, digest: str, origin: str = "") -> tuple[Record | None, bool]:
        """The record of these bytes, that of the given origin before others; and whether there is any record at all."""
        names = self.names()
        about = [name for name in names if name.startswith(_hex(digest))]
        found = [record for name in sorted(about) if (record := self._read(name, digest)) is not None]
        best = next((record for record in found if record.origin == origin), found[0] if found else None)
        return best, bool(names)

    def _read(self, name: str, digest: str) -> Record | None:
        path = self.directory / name
        try:
            with path.open("rb") as file:
                said = json.loads(file.read())
                used = os.fstat(file.fileno()).st_mtime
            record = Record(**said)
        except (OSError, ValueError, TypeError):
            return None
        if time.time() - used > _USED_AGAIN_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(path)
        return record if record.digest == digest else None

    def drop_stale(self, current: str) -> None:
        """Forgets bytes that stood here once. Newer ones may belong to somebody who is about to put them in place.

        Times are compared with that of the record that counts, since the clock of a network volume is not ours.
        """
        self.drop(before=self.last_used(current) - _STALE_SECONDS, but=current)

    def drop(self, *, before: float, but: str = "") -> list[Path]:
        """Removes records that were last used before then, but for those of one digest."""
        gone = []
        for path in (self.directory / name for name in self.names()):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < before and not (but and path.name.startswith(_hex(but))):
                    path.unlink()
                    gone.append(path)
        return gone

    def last_used(self, digest: str = "") -> float:
        """The time of the newest record, of these bytes or of any; 0 where there is none."""
        newest = 0.0
        for name in self.names():
            if not name.startswith(_hex(digest)):
                continue
            with contextlib.suppress(OSError):
                newest = max(newest, (self.directory / name).stat().st_mtime)
        return newest


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
