"""Start-up locks are released however the work under them ends."""

import pytest
from django.db import connection

from registry.management.locks import database_lock


def advisory_locks() -> int:
    """Return how many advisory locks the database holds. SQLite has none."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db
def test_the_database_lock_is_released_after_an_error() -> None:
    with pytest.raises(RuntimeError, match="halfway"), database_lock():
        assert advisory_locks() == (connection.vendor == "postgresql")
        raise RuntimeError("halfway")
    assert advisory_locks() == 0
