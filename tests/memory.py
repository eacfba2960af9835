"""Where the files of tests are kept: in memory where there is plenty, since no test asks what a power cut leaves."""

import os
import shutil
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a mount, below which every test has a directory of its own
_PLENTY = 4 * 1024**3


def use() -> None:
    """For this process and those it starts. A place that somebody chose stays."""
    if "TMPDIR" in os.environ or not os.access(_IN_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_IN_MEMORY).free >= _PLENTY:
        os.environ["TMPDIR"] = str(_IN_MEMORY)
        tempfile.tempdir = None
