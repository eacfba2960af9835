"""`create_token`: print a new token, and nothing else, so that scripts can use the output."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.core import roles
from registry.core.errors import SkillsiteError
from registry.models import Project, User
from registry.services import permissions
from registry.services.agents import agents, tokens


class Command(BaseCommand):
    help = "Print a new token for an agent or a person. An agent that does not exist is created."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        holder = parser.add_mutually_exclusive_group(required=True)
        holder.add_argument("--agent", metavar="NAME")
        holder.add_argument("--user", metavar="NAME")
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            help=f"a scope of the token: {', '.join(roles.SCOPES)}; repeat the option for several scopes",
        )
        parser.add_argument(
            "--expires", metavar="90d", help="lifetime as a number and h, d or w; without it the token does not expire"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        by = permissions.operator()
        try:
            project = Project.objects.filter(slug=options["project"], archived_at=None).first()
            if project is None:
                raise CommandError(f"There is no project {options['project']!r}.")
            # Check for None: an empty value, for example from an unset shell variable, must be refused.
            for_agent = options["agent"] is not None
            lifetime = tokens.parse_lifetime(options["expires"]) if options["expires"] is not None else None
            tokens.check_scopes(options["scope"], for_agent=for_agent)
            agent = agents.ensure(project, options["agent"], by=by) if for_agent else None
            user = None if for_agent else User.objects.filter(username=options["user"]).first()
            if not for_agent and user is None:
                raise CommandError(f"There is no user {options['user']!r}.")
            secret = tokens.create_token(
                project, agent=agent, user=user, scopes=options["scope"], lifetime=lifetime, by=by
            )
        except SkillsiteError as error:
            raise CommandError(error.message) from error
        self.stdout.write(secret)
