"""Skills with workflows, callers with tokens, and a worker that carries runs."""

from collections.abc import Callable

import pytest

from registry.api import capabilities, run_events
from registry.core import roles
from registry.models import Project
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
