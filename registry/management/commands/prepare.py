"""Makes the database ready: migrations, and the demo where there is no project yet."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from registry.models import Project


class Command(BaseCommand):
    help = "Migrates, and loads the demo into an empty site."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        settings.PERSISTENT_VOLUME_STORAGE.mkdir(parents=True, exist_ok=True)
        if not Project.objects.exists():
            call_command("load_demo")
