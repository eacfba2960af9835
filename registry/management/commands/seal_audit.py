"""`seal_audit`: seal the audit log again after its key was lost or changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from registry.core.errors import SkillsiteError
from registry.services import permissions
from registry.services.audit_log import sealing


class Command(BaseCommand):
    help = "Seal the audit log with the present AUDIT_KEY, if no seal matches and everything else is intact."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = sealing.seal_again(by=permissions.operator())
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{count:,} events sealed." if count else "The seals match. Nothing was changed.")
