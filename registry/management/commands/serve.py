"""Prepares the site and runs it: web server and worker, ended together."""

import os
import signal
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse

from registry.core import roles
from registry.models import Membership, Project
from registry.services import accounts, permissions


class Command(BaseCommand):
    help = "Migrates, loads the demo on first use, and serves the site with its worker."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=os.environ.get("HOST", "127.0.0.1"))
        parser.add_argument("--workers", type=int, default=int(os.environ.get("WEB_WORKERS", "1")))
        parser.add_argument("--threads", type=int, default=int(os.environ.get("WEB_THREADS", "4")))
        parser.add_argument("--no-prepare", action="store_true", help="neither migrate nor load the demo")
        parser.add_argument("--no-worker", action="store_true", help="the worker runs elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("check", fail_level="ERROR")
        if not options["no_prepare"]:
            self.prepare()
        commands = [self.web_command(options)]
        if not options["no_worker"]:
            commands.append([sys.executable, "manage.py", "db_worker", "--no-reload"])
        sys.exit(run_together(commands))

    def prepare(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        settings.PERSISTENT_VOLUME_STORAGE.mkdir(parents=True, exist_ok=True)
        if not Project.objects.exists():
            call_command("load_demo")
        self.stdout.write(f"\n  Skillsite: http://localhost:{settings.PORT}/")
        self.print_sign_in()

    def print_sign_in(self) -> None:
        """A new link at each start for as long as no owner can sign in with a password."""
        owners = [m.user for m in Membership.objects.filter(role=roles.OWNER).select_related("user").order_by("pk")]
        if not owners or any(owner.has_usable_password() for owner in owners):
            return
        secret = accounts.make_sign_in_link(owners[0], by=permissions.operator())
        address = f"http://localhost:{settings.PORT}{reverse('sign-in-link', args=[secret])}"
        self.stdout.write(f"  Sign in as {owners[0].username}, once, within the hour:\n  {address}\n")
        self.stdout.flush()

    def web_command(self, options: dict[str, Any]) -> list[str]:
        return [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", options["host"],
            "--port", str(settings.PORT), "--workers", str(options["workers"]),
            "--blocking-threads", str(options["threads"]), "--no-ws", "--log-level", "warning",
            "skillsite.wsgi:application",
        ]  # fmt: skip


def run_together(commands: list[list[str]]) -> int:
    """Runs the commands until one ends or we are told to stop; then ends them all."""
    children = [subprocess.Popen(command, cwd=settings.BASE_DIR) for command in commands]  # noqa: S603 - our own

    def stop(*_: object) -> None:
        for child in children:
            if child.poll() is None:
                child.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    ended, status = os.waitpid(-1, 0)
    stop()
    for child in children:
        if child.pid != ended:
            child.wait()
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 0
