"""Fetch skills into the cache of a project before they are needed."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from registry.core.errors import SkillsiteError
from registry.core.resolve import definitions
from registry.models import Project
from registry.services import permissions
from registry.services.resolve import resolver
from registry.services.sources import source_jobs


class Command(BaseCommand):
    help = (
        "Resolve definitions from a file or standard input, as /resolve does, so that their first use is fast. "
        "Or, with --sources, stage all skills of the project's sources, so that imports need no network."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--sources", action="store_true", help="stage the skills of all sources instead")
        parser.add_argument("definitions", nargs="?", default="-", help="JSON file; default or -: standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        if options["sources"]:
            self._warm_sources(project)
            return
        skipped = 0
        for one in self._resolve(project, _read_json(options["definitions"])):
            reason = f"  {one.reason}" if one.reason else ""
            self.stdout.write(f"{one.status}  {one.name} {one.version}{reason}")
            skipped += one.status == "skipped"
        if skipped:
            raise CommandError(f"{skipped:,} not fetched.")

    def _warm_sources(self, project: Project) -> None:
        failed = 0
        for one in source_jobs.warm(project, now=timezone.now()):
            self.stdout.write(f"{one.source}: {one.problem or f'{one.skills:,} skills'}")
            for reason in one.failed:
                self.stdout.write(f"  {reason}")
            failed += len(one.failed) + bool(one.problem)
        if failed:
            raise CommandError(f"{failed:,} not fetched.")

    def _resolve(self, project: Project, given: object) -> list[resolver.Resolved]:
        """Resolve the definitions in parts, each as large as one request may be."""
        most, results = resolver.BOUNDS.most, []
        try:
            entries = definitions.parse(given)
            for start in range(0, len(entries), most):
                part = entries[start : start + most]
                results += resolver.resolve(project, part, by=permissions.operator())
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        return results


def _read_json(where: str) -> object:
    try:
        return json.loads(sys.stdin.read() if where == "-" else Path(where).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{where} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{where} is not JSON: {error}.") from error
