"""Locks for start-up: when several processes start at once, one prepares the site and the others wait."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import Error, connection

_PREPARING = 20_260_101  # the id of our PostgreSQL advisory lock; any number works


@contextmanager
def directory_lock(directory: Path) -> Iterator[None]:
    """Hold an exclusive lock on a directory of this machine. The lock ends with the process."""
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def database_lock() -> Iterator[None]:
    """Hold a lock in a PostgreSQL database, which several machines may share. SQLite relies on `directory_lock`."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_PREPARING])
        try:
            yield
        finally:
            with suppress(Error):  # a connection that was lost has released its lock
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_PREPARING])
