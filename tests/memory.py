"""Temporary files of the tests in memory, if the machine has enough. No test simulates a power cut."""

import os
import shutil
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a mount, below which every test has a directory of its own
_PLENTY = 4 * 1024**3


def use() -> None:
    """Set the temporary directory for this process and its children, unless TMPDIR is already set."""
    if "TMPDIR" in os.environ or not os.access(_IN_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_IN_MEMORY).free >= _PLENTY:
        os.environ["TMPDIR"] = str(_IN_MEMORY)
        tempfile.tempdir = None
