"""Signed-in test clients with separate storage."""

from collections.abc import Callable

import pytest
from django.test import Client

from registry.models import User
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def browser_client(person: Callable[[str], User]) -> Callable[[str], Client]:
    """Return a client for a member with the given role. CSRF tokens are checked only if `strict`."""

    def make(role: str, *, strict: bool = False) -> Client:
        client = Client(enforce_csrf_checks=strict)
        client.force_login(person(role))
        return client

    return make


def signed_in(client: Client) -> Client:
    """Load one page, so that the session is stored and later pages change no rows."""
    client.head("/projects/demo/export.zip")  # the cheapest page there is
    return client
