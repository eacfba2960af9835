"""Skills with workflows, callers with tokens, and a worker that carries runs."""

from collections.abc import Callable

import pytest

from registry.api import capabilities, run_events
from registry.core import roles
from registry.models import Project, User
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows.run_worker import RunWorker
from tests.api.runs.requests import ASKS, TYPED
from tests.api.runs.served import Clock
from tests.conftest import Api, skill_bundle
from tests.services.workflows.conftest import CHAIN, finish

TEXTS = {"greet": CHAIN, "letter": ASKS, "order": TYPED}


@pytest.fixture(autouse=True)
def flows(project: Project, operator: Actor) -> None:
    """Publish the skills `greet`, which runs through, and `letter` and `order`, which wait for a person."""
    for name, text in TEXTS.items():
        skills.create(project, skill_bundle(name, {"workflow.yaml": text.encode()}), by=operator)


@pytest.fixture
def work(db: None) -> Callable[[], None]:
    """Return a function that lets a worker carry all runs as far as they go."""
    worker = RunWorker(poll_seconds=0)
    return lambda: finish(worker)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock of answers that go on."""
    clock = Clock()
    for module in (run_events, capabilities):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def bot(api: Callable[..., Api]) -> Api:
    return api(roles.READ, roles.RUN)


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
