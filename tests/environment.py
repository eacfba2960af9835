"""Loaded before the settings are: tests keep their files in a directory of their own, and nothing outside counts."""

import atexit
import gc
import os
import shutil
import tempfile

from tests import memory

for name in list(os.environ):
    if name.startswith(("SKILLSITE_", "LIMIT_", "RATE_LIMIT_", "S3_", "EMAIL_", "SKILLS_FETCH_")) or name in {
        "AGENT_SKILLS_DIRS",
        "REDIS_URL",
        "DEBUG",
    }:
        del os.environ[name]

# Hundreds of thousands of objects live as long as the process; looking through them again and again is a sixth of it.
gc.set_threshold(100_000, 50, 100)

memory.use()
_data = tempfile.mkdtemp(prefix="skillsite-test-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["SKILLSITE_DATA"] = _data
os.environ["LOG_LEVEL"] = "ERROR"
