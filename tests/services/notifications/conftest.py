"""Members by name, an agent, a skill, a mail server, and a webhook with its receiver."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from registry.core import roles
from registry.models import Endpoint, Project, User
from registry.services import permissions
from registry.services.notifications import webhook_delivery, webhooks
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import proposing_agent
from tests.remembered import remembered
from tests.services.mailboxes import Mailbox, mailbox
from tests.services.notifications.deliveries import ALL
from tests.services.notifications.recipients import FIVE, People, gets_mail
from tests.services.receivers import Receiver, receiving


@pytest.fixture
def people(project: Project, operator: Actor) -> People:
    """Return a function that creates a member by name. A name of a role gets that role, any other name reviews."""

    def make(name: str) -> User:
        found = User.objects.filter(username=name).first()
        if found is None:
            found = accounts.create_user(name, full_name=f"{name.capitalize()} Somebody", by=operator)
            members.set_role(project, found, name if name in roles.ROLES else roles.REVIEWER, by=operator)
        return found

    return make


@pytest.fixture
def acting(project: Project, people: People) -> Callable[[str], Actor]:
    return lambda name: permissions.person(people(name), project)


@pytest.fixture
def bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "bot", operator)


@pytest.fixture
@remembered
def skill(project: Project, operator: Actor) -> str:
    return skills.create(project, skill_bundle(body=FIVE), by=operator).version.digest


@pytest.fixture
def box(settings: Any) -> Iterator[Mailbox]:
    with mailbox() as made:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", made.port, 5
        settings.PUBLIC_URL = "https://skills.example.org"
        settings.DEFAULT_FROM_EMAIL = "Skillsite <skills@example.org>"
        yield made


@pytest.fixture
def maja(people: People) -> User:
    return gets_mail(people("maja"), "maja@example.org")


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.host]
        settings.PUBLIC_URL = "https://skills.example.org"
        yield made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a short timeout for receivers that hang."""
    monkeypatch.setattr(webhook_delivery, "TIMEOUT_SECONDS", 0.1)


@pytest.fixture
def endpoint(project: Project, owner: Actor, receiver: Receiver) -> Endpoint:
    return webhooks.create(project, receiver.url(), ALL, by=owner)[0]
