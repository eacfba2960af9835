"""`deactivate_user`: close an account and revoke its tokens."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.models import User
from registry.services import permissions
from registry.services.people import accounts


class Command(BaseCommand):
    help = "Close an account. Tokens that the person has, or made for agents and others, are revoked in all projects."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the username")
        parser.add_argument("--undo", action="store_true", help="open the account again; its tokens stay revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}.")
        if options["undo"]:
            accounts.reactivate(user, by=permissions.operator())
            self.stdout.write(f"{user.username} can sign in again.")
        else:
            revoked = accounts.deactivate(user, by=permissions.operator())
            self.stdout.write(f"{user.username} can no longer sign in. Tokens revoked: {revoked}.")
