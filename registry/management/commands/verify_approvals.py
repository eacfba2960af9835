"""`verify_approvals`: check that agents get the bytes that were approved."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.services.proposals import approval_records


class Command(BaseCommand):
    help = "Recompute the digest of every served version and compare it with its approval."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--strict",
            action="store_true",
            help="also fail if a protected project serves a version that nobody approved",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        good, doubts = approval_records.verify()
        for doubt in doubts:
            self.stdout.write(f"{doubt.project}/{doubt.skill} {doubt.version}: {doubt.reason}")
        self.stdout.write(f"{good:,} served versions are correct, {len(doubts):,} problems.")
        if any(options["strict"] or not doubt.missing for doubt in doubts):
            raise CommandError("Agents get versions that do not match their approval.")
