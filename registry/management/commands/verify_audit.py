"""`verify_audit`: check that no event of the audit log was changed, removed or inserted."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from registry.services import audit


class Command(BaseCommand):
    help = "Check every chain of the audit log. Exit with 1 if one is broken."

    def handle(self, *args: Any, **options: Any) -> None:
        good, broken = audit.verify()
        for fault in broken:
            self.stderr.write(f"{fault.chain}, event {fault.sequence}: {fault.reason}.")
        if broken:
            raise CommandError(f"The audit log is broken: {len(broken)} faults, {good:,} intact events.")
        self.stdout.write(f"{good:,} events, all chains are intact.")
