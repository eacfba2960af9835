"""The analysed skills of this node, kept on disk so that a process that starts need not analyse them again.

The file is derived: it can be deleted at any time. An analysis is stored under the digest and the name of its skill and
the version of the code and of the encoder that made it, so it never changes.
"""

import platform
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from registry.core.routing.analysis import Analysed, Damaged
from registry.lib.derived_store import DerivedStore, key_of
from registry.lib.lru import MEBIBYTE

Key = tuple[str, str]  # digest and name

_MOST_BYTES = 2_048 * MEBIBYTE
_UNUSED_DAYS = 30


def load(keys: Iterable[Key], version: str) -> dict[Key, Analysed]:
    """Return the stored analyses of this version. Damaged ones are left out."""
    hashed = {key_of(version, *key): key for key in keys}
    found: dict[Key, Analysed] = {}
    for stored_key, content in _store(_file()).get(hashed).items():
        try:
            found[hashed[stored_key]] = Analysed.from_bytes(content)
        except Damaged:
            continue
    return found


def save(analysed: Mapping[Key, Analysed], version: str) -> None:
    _store(_file()).put({key_of(version, *key): skill.to_bytes() for key, skill in analysed.items()})


def sweep() -> int:
    """Delete what was not read for a month: analyses, and files of other machines. Return the number of analyses."""
    own = _file()
    unused_since = time.time() - _UNUSED_DAYS * 86_400
    with suppress(OSError):
        for file in own.parent.glob("index*.sqlite3*"):
            if not file.name.startswith(own.name) and file.stat().st_mtime < unused_since:
                file.unlink(missing_ok=True)
    return _store(own).sweep(unused_days=_UNUSED_DAYS)


def _file() -> Path:
    """Return the file of this machine. Machines with one database may share the directory, but not a SQLite file."""
    machine = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node())[:64]
    name = f"index-{machine}.sqlite3" if settings.DATABASE_URL else "index.sqlite3"
    return Path(settings.SKILLSITE_DATA) / "routing" / name


@lru_cache(maxsize=8)
def _store(file: Path) -> DerivedStore:
    return DerivedStore(file, most_bytes=_MOST_BYTES)
