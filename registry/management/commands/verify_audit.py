"""Checks that no event of the audit log was changed, removed or slipped in."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from registry.services import audit


class Command(BaseCommand):
    help = "Walks every chain of the audit log; exits with 1 where one does not hold."

    def handle(self, *args: Any, **options: Any) -> None:
        good, broken = audit.verify()
        for fault in broken:
            self.stderr.write(f"{fault.chain}, event {fault.sequence}: {fault.reason}.")
        if broken:
            raise CommandError(f"The audit log does not hold: {len(broken)} faults, {good:,} events in order.")
        self.stdout.write(f"{good:,} events, every chain holds.")
