"""Separate storage for each test, and members who act."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project, User
from registry.services import permissions
from registry.services.permissions import Actor
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def owner(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.OWNER), project)


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)
