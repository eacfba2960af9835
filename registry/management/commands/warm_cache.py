"""Fetches skills from elsewhere into the cache of a project before anybody asks for them."""

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
        "Resolves definitions from a file or standard input, as /resolve does, so that their first use is quick; "
        "or puts aside all that the sources of the project offer, so that importing needs no network."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--sources", action="store_true", help="the sources of the project, and no definitions")
        parser.add_argument("definitions", nargs="?", default="-", help="a file with JSON; - or none is standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"], archived_at=None).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        if options["sources"]:
            self._warm_sources(project)
            return
        skipped = 0
        for one in self._resolved(project, _given(options["definitions"])):
            reason = f"  {one.reason}" if one.reason else ""
            self.stdout.write(f"{one.status}  {one.name} {one.version}{reason}")
            skipped += one.status == "skipped"
        if skipped:
            raise CommandError(f"{skipped:,} could not be fetched.")

    def _warm_sources(self, project: Project) -> None:
        failed = 0
        for one in source_jobs.warm(project, now=timezone.now()):
            self.stdout.write(f"{one.source}: {one.problem or f'{one.skills:,} skills'}")
            for reason in one.failed:
                self.stdout.write(f"  {reason}")
            failed += len(one.failed) + bool(one.problem)
        if failed:
            raise CommandError(f"{failed:,} could not be fetched.")

    def _resolved(self, project: Project, given: object) -> list[resolver.Resolved]:
        """As many at a time as one request may name."""
        most, found = resolver.BOUNDS.most, []
        try:
            entries = definitions.parse(given)
            for start in range(0, len(entries), most):
                part = entries[start : start + most]
                found += resolver.resolve(project, part, by=permissions.operator())
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
