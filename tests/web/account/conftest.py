"""A person with a password, and a browser in which they are signed in."""

import pytest
from django.test import Client

from registry.models import Project, User
from registry.services.people import accounts
from registry.services.permissions import Actor
from tests.remembered import remembered
from tests.web.account.signing_in import PASSWORD, enter


@pytest.fixture
@remembered
def maja(project: Project, operator: Actor) -> User:
    user = accounts.create_user("maja", full_name="Maja Lindqvist", by=operator)
    accounts.set_password(user, PASSWORD)
    return user


@pytest.fixture
def browser(maja: User) -> Client:
    client = Client()
    enter(client)
    client.get("/account/")
    return client
