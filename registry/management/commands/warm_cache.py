"""Fetches skills from elsewhere into the cache of a project before anybody asks for them."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core import definitions
from registry.core.errors import SkillsiteError
from registry.models import Project
from registry.services import permissions, remote


class Command(BaseCommand):
    help = "Resolves definitions from a file or standard input, as /resolve does, so that their first use is quick."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("definitions", nargs="?", default="-", help="a file with JSON; - or none is standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        skipped = 0
        for one in self._resolved(project, _given(options["definitions"])):
            reason = f"  {one.reason}" if one.reason else ""
            self.stdout.write(f"{one.status}  {one.name} {one.version}{reason}")
            skipped += one.status == "skipped"
        if skipped:
            raise CommandError(f"{skipped:,} could not be fetched.")

    def _resolved(self, project: Project, given: object) -> list[remote.Resolved]:
        """As many at a time as one request may name."""
        most, found = remote.BOUNDS.most, []
        try:
            entries = definitions.parse(given)
            for start in range(0, len(entries), most):
                part = entries[start : start + most]
                found += remote.resolve(project, part, by=permissions.operator())
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        return found


def _given(where: str) -> object:
    try:
        return json.loads(sys.stdin.read() if where == "-" else Path(where).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{where} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{where} is not JSON: {error}.") from error
