"""Browsers of people who are signed in, on storage of their own."""

from collections.abc import Callable

import pytest
from django.test import Client

from registry.models import User
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def browser_client(person: Callable[[str], User]) -> Callable[[str], Client]:
    """The browser of a member of the project in the given role; forms need their token only where `strict`."""

    def make(role: str, *, strict: bool = False) -> Client:
        client = Client(enforce_csrf_checks=strict)
        client.force_login(person(role))
        return client

    return make


def signed_in(client: Client) -> Client:
    """After its first page a browser is known to the site, so that later pages leave nothing behind."""
    client.head("/projects/demo/export.zip")  # the cheapest page there is
    return client
