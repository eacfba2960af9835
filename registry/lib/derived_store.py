"""A SQLite file of derived values, which can be computed again at any time.

Several processes may use one file. A damaged file is deleted, a damaged value is missing, and a file that cannot be
used now (locked, read-only, disk full) is bypassed: reading finds nothing and writing does nothing. No call raises.
"""

import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from registry.lib.files import PRIVATE_FILE, make_directories

T = TypeVar("T")
log = logging.getLogger(__name__)

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
_LAYOUT = 1  # increment after a change of the table
_WAIT_SECONDS = 2.0  # for the lock of another process
_BATCH = 500  # keys in one query
_DAY = 86_400
_REFRESH_DAYS = 7  # a value that is read is marked as used once in this time
_LOG_SECONDS = 3_600  # between two messages of one kind


class DerivedStore:
    """Values of at most `most_bytes` together, in a file that only this user can read."""

    def __init__(self, file: Path, *, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self.file = file
        self._most_bytes = most_bytes
        self._clock = clock
        self._logged: dict[str, float] = {}

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are stored and undamaged."""
        wanted = list(keys)
        return self._guarded(lambda connection: self._get(connection, wanted), {}) if wanted else {}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Store values. An equal key replaces the value."""
        if values:
            self._guarded(lambda connection: self._put(connection, values), None)

    def sweep(self, *, unused_days: int) -> int:
        """Delete values that nobody read for some time, and the oldest ones beyond the size. Return their number."""
        return self._guarded(lambda connection: self._sweep(connection, unused_days), 0) if self.file.exists() else 0

    def discard(self) -> None:
        """Delete the file. Processes that use it at this moment lose nothing but stored values."""
        for suffix in ("-wal", "-shm", "-journal", ""):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)

    def _today(self) -> int:
        return int(self._clock() // _DAY)

    def _guarded(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            with self._connected() as connection:
                return work(connection)
        except sqlite3.DatabaseError as error:
            if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED:
                self._log("deleted", "The stored values in %s are damaged, so the file is deleted: %s", error)
                self._discard_damaged()
            else:
                self._log("bypassed", "The stored values in %s cannot be used now: %s", error)
        except (OSError, sqlite3.Error) as error:
            self._log("bypassed", "The stored values in %s cannot be used now: %s", error)
        return otherwise

    def _discard_damaged(self) -> None:
        try:
            self.discard()
        except OSError as error:
            self._log("kept", "The damaged file %s cannot be deleted: %s", error)

    def _log(self, kind: str, message: str, error: Exception) -> None:
        now = self._clock()
        if now - self._logged.get(kind, -_LOG_SECONDS) >= _LOG_SECONDS:
            self._logged[kind] = now
            log.warning(message, self.file, error)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one operation, so that no process keeps a file that another one deleted."""
        make_directories(self.file.parent)
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
        with closing(sqlite3.connect(self.file, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
            if _layout(connection) != _LAYOUT:
                self._create(connection)
            connection.execute("PRAGMA synchronous=NORMAL")
            yield connection

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        with _transaction(connection):
            if _layout(connection) == _LAYOUT:  # another process was faster
                return
            connection.execute("DROP TABLE IF EXISTS derived")
            connection.execute("CREATE TABLE derived (key BLOB PRIMARY KEY, used INTEGER, checksum BLOB, value BLOB)")
            connection.execute("CREATE INDEX derived_by_use ON derived (used)")
            connection.execute(f"PRAGMA user_version={_LAYOUT}")

    def _get(self, connection: sqlite3.Connection, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        stale: list[bytes] = []
        oldest = self._today() - _REFRESH_DAYS
        for batch in (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH)):
            marks = ",".join("?" * len(batch))
            rows = connection.execute(
                f"SELECT key, used, checksum, value FROM derived WHERE key IN ({marks})",  # noqa: S608
                batch,
            )
            for key, used, checksum, value in rows:
                if isinstance(value, bytes) and checksum == _checksum(key, value):
                    found[key] = value
                    if used <= oldest:
                        stale.append(key)
        if stale:
            self._mark(connection, stale)
        return found

    def _mark(self, connection: sqlite3.Connection, keys: list[bytes]) -> None:
        with _transaction(connection):
            connection.executemany("UPDATE derived SET used = ? WHERE key = ?", [(self._today(), key) for key in keys])

    def _put(self, connection: sqlite3.Connection, values: Mapping[bytes, bytes]) -> None:
        today = self._today()
        rows = [(key, today, _checksum(key, value), value) for key, value in values.items()]
        with _transaction(connection):
            connection.executemany("INSERT OR REPLACE INTO derived VALUES (?, ?, ?, ?)", rows)
        if _size(connection) > self._most_bytes:
            self._shrink(connection)

    def _sweep(self, connection: sqlite3.Connection, unused_days: int) -> int:
        with _transaction(connection):
            deleted = connection.execute("DELETE FROM derived WHERE used < ?", [self._today() - unused_days]).rowcount
        _vacuum(connection)
        return deleted + (self._shrink(connection) if _size(connection) > self._most_bytes else 0)

    def _shrink(self, connection: sqlite3.Connection) -> int:
        """Delete the values that were not used for longest, until a tenth of the size is free."""
        deleted, excess = 0, _size(connection) - self._most_bytes * 9 // 10
        with _transaction(connection):
            rows = connection.execute("SELECT key, length(value) FROM derived ORDER BY used, rowid").fetchall()
            for key, length in rows:
                if excess <= 0:
                    break
                connection.execute("DELETE FROM derived WHERE key = ?", [key])
                deleted, excess = deleted + 1, excess - length
        _vacuum(connection)
        return deleted


def key_of(*parts: str) -> bytes:
    """Return a key from texts that together identify a value and the format in which it is stored."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16, key=key).digest()


def _vacuum(connection: sqlite3.Connection) -> None:
    """Give free pages back. `execute` would stop after the first page."""
    connection.executescript("PRAGMA incremental_vacuum")


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _size(connection: sqlite3.Connection) -> int:
    pages, free, page = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * page)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Take the write lock at the start, because a transaction that has read can fail when it writes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
