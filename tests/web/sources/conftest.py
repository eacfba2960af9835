"""A site with two skills, a source that was checked, and a signed-in author."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Source
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.services.other_site import Elsewhere, checked_source, elsewhere
from tests.web.conftest import Browser, signed_in


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        made.skills["greeting"] = skill_bundle("greeting", body="# Greet\n\nBow twice.\n\nSmile.\n\nSay the name.")
        made.skills["parting"] = skill_bundle("parting")
        yield made


@pytest.fixture
def source(project: Project, site: Elsewhere, author: Actor) -> Source:
    return checked_source(project, site, author)


@pytest.fixture
def page(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))
