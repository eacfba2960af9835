#!/usr/bin/env python
"""Django's command line."""

import os
import sys

from skillsite import memory

memory.collect_rarely()

from django.core.management import execute_from_command_line  # noqa: E402

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "skillsite.settings")
    execute_from_command_line(sys.argv)
