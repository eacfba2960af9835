"""`verify_audit`: check that no event of the audit log was changed, removed or inserted."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.audit.heads import Head, parse
from registry.services.audit_log import heads, verification


class Command(BaseCommand):
    help = "Check every chain of the audit log. Exit with 1 if one is broken."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--heads",
            action="append",
            default=[],
            metavar="FILE",
            help="also compare with heads that were kept elsewhere: lines of the log, or bodies of webhooks",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        own = settings.AUDIT_HEADS_FILE
        known = self._sealed(own.name, list(enumerate(heads.read(own), 1)))
        for name in options["heads"]:
            known += self._sealed(name, self._from(name))
        good, broken = verification.verify(heads=known)
        for fault in broken:
            place = f"{fault.chain}, event {fault.sequence}" if fault.sequence else fault.chain
            self.stderr.write(f"{place}: {fault.reason}.")
        if broken:
            raise CommandError(f"The audit log is broken: {len(broken)} faults, {good:,} intact events.")
        self.stdout.write(f"{good:,} events, all chains are intact.")
        if known:
            self.stdout.write(f"Compared with {len(known):,} heads.")

    def _from(self, name: str) -> list[tuple[int, Head]]:
        try:
            with Path(name).open(encoding="utf-8", errors="replace") as lines:
                found = list(parse(lines))
        except OSError as error:
            raise CommandError(f"Cannot read {name}: {error.strerror}.") from error
        if not found:
            raise CommandError(f"{name} has no line with a head.")
        return found

    def _sealed(self, name: str, heads: list[tuple[int, Head]]) -> list[Head]:
        """Return the heads with a valid seal. Anybody could have written the others."""
        sealed = [head for _, head in heads if head.is_sealed(settings.AUDIT_KEY)]
        if len(sealed) < len(heads):
            first = next(number for number, head in heads if not head.is_sealed(settings.AUDIT_KEY))
            self.stderr.write(
                f"{name}: {len(heads) - len(sealed)} heads have no seal of this key and were not used; "
                f"the first one is in line {first}."
            )
        return sealed
