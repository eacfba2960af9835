"""A limit for transactions of workers that stall, so that their locks do not outlive their leases.

Without it, a worker that is stopped in the middle of a transaction, or whose machine is lost, keeps the locks of its
rows on PostgreSQL. Nobody can take over its runs then.
"""

from datetime import timedelta
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


def end_after(limit: timedelta) -> None:
    """Let PostgreSQL end each transaction of this process that does nothing for longer than `limit`.

    SQLite cannot do that. There, a process that is stopped while it writes holds up all others.
    """

    def apply(connection: BaseDatabaseWrapper, **_: Any) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET idle_in_transaction_session_timeout = {int(limit.total_seconds() * 1_000)}")

    connection_created.connect(apply, weak=False, dispatch_uid=__name__)
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            apply(connection)
