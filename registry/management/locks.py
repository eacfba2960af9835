"""Of several processes that start at once, one prepares the site and the others wait for their turn."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

_PREPARING = 20_260_101  # any number that nobody else takes for an advisory lock


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone_in_database() -> Iterator[None]:
    """For a database that several machines share; one that is a file has its directory to itself."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_PREPARING])
        yield
        cursor.execute("SELECT pg_advisory_unlock(%s)", [_PREPARING])
