"""Checks that what agents are served is what was approved."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.services.proposals import approvals


class Command(BaseCommand):
    help = "Recomputes the digest of every version that is served and compares it with its approval."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--strict", action="store_true", help="Fail as well where a protected project serves what nobody approved."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        good, doubts = approvals.verify()
        for doubt in doubts:
            self.stdout.write(f"{doubt.project}/{doubt.skill} {doubt.version}: {doubt.reason}")
        self.stdout.write(f"{good:,} served versions hold, {len(doubts):,} findings.")
        if any(options["strict"] or not doubt.missing for doubt in doubts):
            raise CommandError("What is served is not what was approved.")
