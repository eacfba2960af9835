"""Files of derived values that belong to this machine. Each can be deleted at any time."""

import platform
import re
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from registry.lib.derived_store import DerivedStore

_UNUSED_DAYS = 30


def store(kind: str, name: str, *, most_bytes: int) -> DerivedStore:
    """Return the store of this machine. Machines with one database may share a directory, but not a SQLite file."""
    return _store(_file(kind, name), most_bytes)


def sweep(kind: str, name: str, *, most_bytes: int) -> int:
    """Delete what was not read for a month: values, and files of other machines. Return the number of values."""
    own = _file(kind, name)
    unused_since = time.time() - _UNUSED_DAYS * 86_400
    with suppress(OSError):
        for file in own.parent.glob(f"{name}*.sqlite3*"):
            if not file.name.startswith(own.name) and file.stat().st_mtime < unused_since:
                file.unlink(missing_ok=True)
    return _store(own, most_bytes).sweep(unused_days=_UNUSED_DAYS)


def _file(kind: str, name: str) -> Path:
    machine = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node())[:64]
    file = f"{name}-{machine}.sqlite3" if settings.DATABASE_URL else f"{name}.sqlite3"
    return Path(settings.SKILLSITE_DATA) / kind / file


@lru_cache(maxsize=8)
def _store(file: Path, most_bytes: int) -> DerivedStore:
    return DerivedStore(file, most_bytes=most_bytes)
