"""Lists stored files that no version names, and deletes the old ones when told to."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from registry.services.files import blobs


class Command(BaseCommand):
    help = "Reports stored files that no version names. With --delete, removes those over 24 hours old."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--delete", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        found = deleted = size = 0
        for orphan in blobs.orphans(now=now):
            found, size = found + 1, size + orphan.size
            gone = options["delete"] and orphan.old and blobs.discard(orphan, now=now)
            deleted += gone
            what = "left by a process that was stopped" if blobs.is_leftover(orphan) else "named by no version"
            state = "deleted" if gone else "old enough to delete" if orphan.old else "too new to delete"
            self.stdout.write(f"{orphan.name}  {orphan.size:,} bytes, {what}, {state}")
        self.stdout.write(f"{found:,} files that no version names, {size:,} bytes; {deleted:,} deleted.")
