"""`write_schemas`: write the JSON Schemas of the files that people write."""

from typing import Any

from django.core.management.base import BaseCommand

from registry.services import schemas


class Command(BaseCommand):
    help = "Write the JSON Schemas in registry/schemas/ anew, from the code."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        for path in schemas.write():
            self.stdout.write(path.name)
