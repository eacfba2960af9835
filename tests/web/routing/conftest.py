"""A project with two skills, and signed-in people for the routing pages."""

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.conftest import Browser, signed_in


@pytest.fixture
def skilled(project: Project, author: Actor) -> Project:
    refund = skill_bundle("refund-reply", description="Answer a refund request. Use for money back.")
    create_skill(project, refund, by=author)
    parcel = skill_bundle("parcel-sizes", description="Choose a parcel. Use when somebody packs.")
    create_skill(project, parcel, by=author)
    project.refresh_from_db()
    return project


@pytest.fixture
def writing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


@pytest.fixture
def owning(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.OWNER))
