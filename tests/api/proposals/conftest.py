"""A skill, an agent that proposes changes of it, and people who review them."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project
from registry.services.permissions import Actor
from tests.api.proposals.requests import BODY
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def digest(project: Project, author: Actor) -> str:
    return create_skill(project, skill_bundle(body=BODY), by=author).version.digest


@pytest.fixture
def bot(api: Callable[..., Api]) -> Api:
    return api(roles.READ, roles.PROPOSE)
