"""`prepare`: migrate the database, and load the demo if there is no project."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, transaction

from registry.management.locks import database_lock, directory_lock
from registry.models import Project
from skillsite import env


class Command(BaseCommand):
    help = "Migrate the database, and load the demo if there is no project."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with directory_lock(settings.SKILLSITE_DATA):
                if not settings.DATABASE_URL:
                    env.private_file(settings.SQLITE_FILE)
                with database_lock():
                    _prepare()
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {error}") from error


def _prepare() -> None:
    call_command("migrate", interactive=False, verbosity=0)
    try:
        settings.PERSISTENT_VOLUME_STORAGE.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"PERSISTENT_VOLUME_STORAGE cannot be used: {error}.") from error
    with transaction.atomic():
        # All or nothing: after half a demo the site has a project, so no later start would finish the demo.
        if not Project.objects.exists():
            call_command("load_demo")
