"""Skills to list, and clients that show them."""

from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from tests.conftest import on_disk
from tests.prepared import disable_skill
from tests.web.conftest import Browser, signed_in
from tests.web.skills.lists import write


@pytest.fixture
def viewer_page(project: Project, browser_client: Browser) -> Client:
    return browser_client(roles.VIEWER)


@pytest.fixture
def shelf(project: Project, library: Path, operator: Actor) -> None:
    on_disk(library, "sql-review", kind="knowledge", tags=["data"])
    built_in.index().refresh()
    write(
        project,
        "expense-report",
        description="Check receipts. Use when money is asked for.",
        tags=["money"],
        by=operator,
    )
    write(project, "invoice", body="Word. " * 200, tags=["money", "data"], by=operator)
    write(project, "retired", by=operator)
    disable_skill(project, "retired", by=operator)


@pytest.fixture
def writing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


@pytest.fixture
def stranger(other_project: Project, operator: Actor) -> Client:
    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    client = Client()
    client.force_login(user)
    return client
