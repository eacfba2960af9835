"""A signed-in author, and a skill to edit."""

from collections.abc import Callable

import pytest
from django.test import Client

from registry.models import Project, Version
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def browser(browser_client: Callable[..., Client]) -> Client:
    return browser_client("author")


@pytest.fixture
def greeting(project: Project, author: Actor) -> Version:
    bundle = skill_bundle("greeting", {"references/names.md": b"Ada\n", "assets/logo.png": b"\x89PNG\0"})
    return create_skill(project, bundle, by=author).version
