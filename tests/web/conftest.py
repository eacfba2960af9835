"""Signed-in test clients with separate storage."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from registry.core import roles
from registry.models import User
from registry.services import counters
from registry.services.people import sessions
from tests.remembered import remembered
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

Browser = Callable[..., Client]


@pytest.fixture
def browser_client(person: Callable[[str], User]) -> Browser:
    """Return a client for a member with the given role. CSRF tokens are checked only if `strict`."""

    def make(role: str, *, strict: bool = False) -> Client:
        client = Client(enforce_csrf_checks=strict)
        client.cookies[settings.SESSION_COOKIE_NAME] = _session(person(role))
        return client

    return make


@remembered
def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def signed_in(client: Client) -> Client:
    """Load one page, so that the session is stored and later pages change no rows."""
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    _visit(session)
    counters.first(f"seen:{session}", seconds=sessions.SEEN_EVERY)  # `_visit` repeats rows, and this is in the cache
    return client


@pytest.fixture
def viewing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.VIEWER))


@remembered
def _visit(session: str) -> None:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    client.head("/projects/demo/export.zip")  # the cheapest page there is
