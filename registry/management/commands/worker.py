"""`worker`: run queued tasks, and a sweep every minute."""

import logging
import threading
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils import timezone

from registry.services import housekeeping

log = logging.getLogger(__name__)
_PAUSE_SECONDS = 60


class Command(BaseCommand):
    help = "Run queued tasks until stopped. Every minute, retry overdue work and delete expired rows."

    def handle(self, *args: Any, **options: Any) -> None:
        threading.Thread(target=_sweep_forever, name="sweep", daemon=True).start()
        call_command("db_worker", reload=False, verbosity=0)


def _sweep_forever() -> None:
    pause = threading.Event()
    while True:
        try:
            removed = {what: count for what, count in housekeeping.sweep(now=timezone.now()).items() if count}
            if removed:
                log.info("Deleted expired rows: %s", ", ".join(f"{count} {what}" for what, count in removed.items()))
        except Exception:
            log.exception("The sweep failed. The next one starts in a minute.")
        finally:
            connection.close()
        pause.wait(_PAUSE_SECONDS)
