"""`worker`: run queued tasks, carry runs of workflows, and a sweep every minute. With `--calls`, a Celery worker."""

import logging
import threading
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string

from registry.services import housekeeping
from registry.services.workflows import idle_transactions
from registry.services.workflows.run_worker import RunWorker

log = logging.getLogger(__name__)
_PAUSE_SECONDS = 60
_STOP_SECONDS = 15.0  # for the runs to be given back


class Command(BaseCommand):
    help = "Run queued tasks and workflows until stopped. Every minute, retry overdue work and delete expired rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--calls", action="store_true", help="only perform calls of workflows, which CELERY_BROKER_URL brings"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["calls"]:
            perform_calls()
            return
        idle_transactions.end_after(timedelta(seconds=settings.WORKFLOW_LEASE_SECONDS))
        threading.Thread(target=_sweep_forever, name="sweep", daemon=True).start()
        stop = threading.Event()
        runs = threading.Thread(target=_carry_runs, args=(stop,), name="runs", daemon=True)
        runs.start()
        try:
            call_command("db_worker", reload=False, verbosity=0)
        finally:
            stop.set()
            runs.join(_STOP_SECONDS)


def perform_calls() -> None:
    """Run a Celery worker in this process until it is stopped. It takes one message for each of its threads."""
    if not settings.CELERY_BROKER_URL:
        raise CommandError("CELERY_BROKER_URL is not set, so the calls of workflows run in the threads of the worker.")
    app = import_string("skillsite.celery.app")  # not a plain import, because the package celery is optional
    app.worker_main(["worker", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"])


def _carry_runs(stop: threading.Event) -> None:
    try:
        RunWorker().run_until(stop)
    finally:
        connection.close()


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
