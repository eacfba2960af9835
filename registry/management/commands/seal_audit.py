"""`seal_audit`: seal the audit log again after its key was lost or changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.services import permissions
from registry.services.audit_log import sealing


class Command(BaseCommand):
    help = "Seal the audit log with the present AUDIT_KEY, if no seal matches and everything else is intact."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--key-was-lost",
            action="store_true",
            help="confirm that the key is lost, so that nothing in the log before can be proven any more",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = sealing.seal_again(key_was_lost=options["key_was_lost"], by=permissions.operator())
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        sealed = f"{count:,} events sealed. {sealing.UNPROVEN}"
        self.stdout.write(sealed if count else "The seals match. Nothing was changed.")
