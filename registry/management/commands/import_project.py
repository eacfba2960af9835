"""Import the skills of an export into a project and print the result of each."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.models import Project
from registry.services import permissions
from registry.services.transfer import import_project, routing_transfer


class Command(BaseCommand):
    help = "Import every skill of an exported zip or directory. Exits with 1 if a skill was refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="SLUG")
        parser.add_argument("path", type=Path, metavar="PATH", help="a zip or a directory")
        parser.add_argument("--dry-run", action="store_true", help="print the results without storing anything")
        parser.add_argument("--note", default="", help="note for each version")
        parser.add_argument("--gate-reason", default="", help="publish skills that the routing gate refuses, because")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        try:
            results = import_project.import_skills(
                project,
                options["path"],
                dry_run=options["dry_run"],
                note=options["note"],
                gate_reason=options["gate_reason"],
                by=permissions.operator(),
            )
            refused = sum([self._print(result) for result in results])
            self._print_routing(
                routing_transfer.import_routing(
                    project, options["path"], dry_run=options["dry_run"], by=permissions.operator()
                )
            )
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        if refused:
            raise CommandError(f"{refused:,} {'was' if refused == 1 else 'were'} refused. See above for the others.")

    def _print_routing(self, result: routing_transfer.ImportedRouting | None) -> None:
        if result is None:
            return
        self.stdout.write(f"test questions: {result.added:,} added, {result.replaced:,} replaced")
        if result.settings:
            self.stdout.write(f"routing settings: {', '.join(result.settings)}")

    def _print(self, result: import_project.ImportedSkill) -> bool:
        refused = result.action == import_project.REFUSED
        detail = result.reason if refused else result.version
        (self.stderr if refused else self.stdout).write(f"{result.action} {result.name} {detail}")
        return refused
