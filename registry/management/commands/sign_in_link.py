"""`sign_in_link`: print a link that signs a user in, once, within one hour."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from registry.models import User
from registry.services import permissions
from registry.services.people import accounts


class Command(BaseCommand):
    help = "Print a sign-in link for a user. It works once, within one hour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the username")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}.")
        secret = accounts.make_sign_in_link(user, by=permissions.operator())
        self.stdout.write(f"{settings.PUBLIC_URL}{reverse('sign-in-link', args=[secret])}")
