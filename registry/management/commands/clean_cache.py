"""Takes leftovers and unused versions out of the cache of skills from elsewhere."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core.errors import SkillsiteError
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.resolve import resolver


class Command(BaseCommand):
    help = (
        "Removes what stopped runs left in the cache of skills from elsewhere, once it is an hour old. With "
        "--older-than and --keep also versions that nobody uses; one that was used within the hour stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this one; all when not given")
        parser.add_argument("--older-than", metavar="30d", help="versions without use for so long: h, d or w")
        parser.add_argument("--keep", type=_count, metavar="N", help="so many versions of each name, the last used")

    def handle(self, *args: Any, **options: Any) -> None:
        by = permissions.operator()
        try:
            age = tokens.parse_lifetime(options["older_than"]).total_seconds() if options["older_than"] else None
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        slugs = [options["project"]] if options["project"] else resolver.cached_projects()
        if options["project"] and not resolver.root(options["project"]).is_dir():
            raise CommandError(f"There is no cache of a project {options['project']!r}.")
        count = size = 0
        for slug in slugs:
            for one in resolver.clean(slug, older_than=age, keep=options["keep"], by=by):
                count, size = count + 1, size + one.size
                self.stdout.write(f"{slug}  {one.path.relative_to(resolver.root(slug) / 'skills')}  {one.why}")
        self.stdout.write(f"{count:,} removed, {size:,} bytes.")


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError("write a whole number")
    return int(text)
