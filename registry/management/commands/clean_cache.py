"""Remove leftovers and unused versions from the cache of resolved skills."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.resolve import resolver


class Command(BaseCommand):
    help = (
        "Remove leftovers of interrupted runs from the cache of resolved skills, once they are an hour old. With "
        "--older-than and --keep, also remove unused versions. Versions used within the last hour stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project; default: all projects")
        parser.add_argument("--older-than", metavar="30d", help="remove versions unused for this long, in h, d or w")
        parser.add_argument("--keep", type=_count, metavar="N", help="keep the N last used versions of each skill")

    def handle(self, *args: Any, **options: Any) -> None:
        by = permissions.operator()
        try:
            age = tokens.parse_lifetime(options["older_than"]).total_seconds() if options["older_than"] else None
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        slugs = [options["project"]] if options["project"] else resolver.cached_projects()
        if options["project"] and not resolver.root(options["project"]).is_dir():
            raise CommandError(f"There is no cache for project {options['project']!r}.")
        count = size = 0
        for slug in slugs:
            for removed in resolver.clean(slug, older_than=age, keep=options["keep"], by=by):
                count, size = count + 1, size + removed.size
                self.stdout.write(f"{slug}  {removed.path.relative_to(resolver.root(slug))}  {removed.why}")
        self.stdout.write(f"{count:,} removed, {size:,} bytes.")


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError("must be a whole number")
    return int(text)
