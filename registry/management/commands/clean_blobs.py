"""`clean_blobs`: list stored files that nothing refers to, and delete the old ones."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from registry.services.files import blobs


class Command(BaseCommand):
    help = "List stored files that nothing refers to. With --delete, delete those that are more than 24 hours old."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--delete", action="store_true", help="delete files that are more than 24 hours old")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        count = deleted = size = 0
        for orphan in blobs.orphans(now=now):
            count, size = count + 1, size + orphan.size
            is_deleted = options["delete"] and orphan.old and blobs.discard(orphan, now=now)
            deleted += is_deleted
            what = "left by a killed process" if blobs.is_leftover(orphan) else "unused"
            state = "deleted" if is_deleted else "old enough to delete" if orphan.old else "too new to delete"
            self.stdout.write(f"{orphan.name}  {orphan.size:,} bytes, {what}, {state}")
        self.stdout.write(f"{count:,} unused files with {size:,} bytes; {deleted:,} deleted.")
