"""Loaded before the settings are: tests keep their files in a directory of their own, and nothing outside counts."""

import atexit
import os
import shutil
import tempfile

for name in list(os.environ):
    if name.startswith(("SKILLSITE_", "LIMIT_", "RATE_LIMIT_", "S3_", "EMAIL_", "SKILLS_")) or name in {
        "AGENT_SKILLS_DIRS",
        "PERSISTENT_VOLUME_STORAGE",
        "REDIS_URL",
        "DEBUG",
    }:
        del os.environ[name]

_data = tempfile.mkdtemp(prefix="skillsite-test-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["SKILLSITE_DATA"] = _data
os.environ["LOG_LEVEL"] = "ERROR"
