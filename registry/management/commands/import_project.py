"""Brings the skills of an export into a project, and tells of each what became of it."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.models import Project
from registry.services import permissions
from registry.services.transfer import import_project


class Command(BaseCommand):
    help = "Imports every skill of a zip or directory that another site exported. Exit 1 where one was refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="SLUG")
        parser.add_argument("path", type=Path, metavar="PATH", help="a zip or a directory")
        parser.add_argument("--dry-run", action="store_true", help="tells what would happen and stores nothing")
        parser.add_argument("--note", default="", help="is kept with each version")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        try:
            moved = import_project.bring(
                project,
                options["path"],
                dry_run=options["dry_run"],
                note=options["note"],
                by=permissions.operator(),
            )
            refused = sum([self._tell(one) for one in moved])
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        if refused:
            raise CommandError(
                f"{refused:,} {'was' if refused == 1 else 'were'} refused. The others are as told above."
            )

    def _tell(self, moved: import_project.Moved) -> bool:
        refused = moved.action == import_project.REFUSED
        what = moved.reason if refused else moved.version
        (self.stderr if refused else self.stdout).write(f"{moved.action} {moved.name} {what}")
        return refused
