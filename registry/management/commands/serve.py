"""`serve`: prepare the site and run the web server and the worker until one of them ends."""

import os
import signal
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.urls import reverse

from registry.core import roles
from registry.management.locks import directory_lock
from registry.management.processes import run_together
from registry.models import Membership
from registry.services import permissions
from registry.services.people import accounts
from skillsite import env


class Command(BaseCommand):
    help = "Migrate the database, load the demo on the first start, and run the web server and the worker."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=env.text("HOST", "127.0.0.1"))
        parser.add_argument("--workers", type=int, default=settings.WEB_WORKERS)
        parser.add_argument("--threads", type=int, default=settings.WEB_THREADS)
        parser.add_argument("--no-prepare", action="store_true", help="do not migrate or load the demo")
        parser.add_argument("--no-worker", action="store_true", help="do not start a worker")

    def handle(self, *args: Any, **options: Any) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(0))
        call_command("check", fail_level="ERROR")
        check_port(options["host"], settings.PORT)
        collect_static_files(refresh=not options["no_prepare"])
        if not options["no_prepare"]:
            self.prepare()
        call_command("check", databases=["default"])
        connections.close_all()
        os.environ |= {"WEB_WORKERS": str(options["workers"]), "WEB_THREADS": str(options["threads"])}
        commands = [self.web_command(options)]
        if not options["no_worker"]:
            commands.append([sys.executable, "manage.py", "worker"])
        sys.exit(run_together(commands, cwd=settings.BASE_DIR))

    def prepare(self) -> None:
        call_command("prepare")
        self.stdout.write(f"\n  Skillsite: http://localhost:{settings.PORT}/")
        self.print_sign_in()

    def print_sign_in(self) -> None:
        """Print a sign-in link, unless an owner has a password."""
        owners = [m.user for m in Membership.objects.filter(role=roles.OWNER).select_related("user").order_by("pk")]
        if not owners or any(owner.has_usable_password() for owner in owners):
            return
        secret = accounts.make_sign_in_link(owners[0], by=permissions.operator())
        address = f"http://localhost:{settings.PORT}{reverse('sign-in-link', args=[secret])}"
        self.stdout.write(
            f"  Sign in as {owners[0].username} with this link. It works once, within one hour:\n  {address}\n"
        )
        self.stdout.flush()

    def web_command(self, options: dict[str, Any]) -> list[str]:
        return [
            sys.executable, "-m", "granian", "--interface", "rsgi", "--http", "1", "--no-ws",
            "--host", options["host"], "--port", str(settings.PORT), "--workers", str(options["workers"]),
            "--runtime-mode", "mt", "--http1-header-read-timeout", str(settings.SLOW_CLIENT_SECONDS * 1_000),
            "--respawn-failed-workers", "--workers-kill-timeout", "10", "--log-level", "warning",
            "skillsite.rsgi:application",
        ]  # fmt: skip


def collect_static_files(*, refresh: bool) -> None:
    """Run collectstatic on this machine; without its result, no page can be rendered."""
    if settings.STATIC_ROOT is None:  # the files are served from their source directories
        return
    with directory_lock(settings.STATIC_ROOT):
        if refresh or not (settings.STATIC_ROOT / "staticfiles.json").exists():
            call_command("collectstatic", interactive=False, verbosity=0)


def check_port(host: str, port: int) -> None:
    """Raise an error if the port is in use. Granian sets SO_REUSEPORT, so two sites could share a port unnoticed."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CommandError(
            f"Cannot use port {port} of {host}: {error.strerror}. Stop the program that uses it, or set another PORT."
        ) from error
