"""A skill, an agent that proposes changes of it, and people who review them."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project, User
from registry.services.agents import tokens
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


@pytest.fixture
def people(project: Project, person: Callable[[str], User], operator: Actor) -> Callable[..., Api]:
    """Return a function that creates a caller for a role, with every scope of the role unless some are given."""

    def make(role: str, *scopes: str) -> Api:
        user = person(role)
        granted = scopes or tuple(roles.SCOPES_OF_ROLE[role])
        return Api(project, tokens.create_token(project, user=user, scopes=granted, by=operator))

    return make


@pytest.fixture
def reviewer(people: Callable[..., Api]) -> Api:
    return people(roles.REVIEWER)
