"""Export a project's skills to a directory or a zip, for another site or for version control."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.models import Project
from registry.services import permissions
from registry.services.transfer import export_directory, export_zip


class Command(BaseCommand):
    help = "Export the skills of a project to a directory, writing only changed files, or to a new zip."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="SLUG")
        parser.add_argument("path", type=Path, metavar="PATH", help="a directory, or a file name with .zip")
        parser.add_argument("--effective", action="store_true", help="all skills that agents get, with built-in ones")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        write = self._zip if options["path"].suffix == ".zip" else self._directory
        try:
            write(project, options["path"], options["effective"])
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error

    def _directory(self, project: Project, path: Path, effective: bool) -> None:
        report = export_directory.write(project, path, effective=effective, by=permissions.operator())
        for name in report.removed:
            self.stdout.write(f"removed {name}")
        self.stdout.write(f"{report.skills:,} skills in {path}; {report.files:,} files written.")

    def _zip(self, project: Project, path: Path, effective: bool) -> None:
        archive = export_zip.export_zip(project, effective=effective, by=permissions.operator())
        with path.open("xb") as file:
            file.writelines(archive.chunks)
        self.stdout.write(f"{archive.length:,} bytes in {path}.")
