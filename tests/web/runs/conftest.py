"""Skills with workflows, and runs that a real worker carries."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.models import Project, Run, User
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.conftest import skill_bundle
from tests.services.workflows.conftest import asking, finish

__all__ = ["asking"]

Workflow = Callable[..., str]
Started = Callable[..., Run]


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


@pytest.fixture
def workflow(project: Project, operator: Actor) -> Workflow:
    """Return a function that publishes a skill with a workflow, and returns its name."""

    def publish(text: str, name: str = "flow") -> str:
        skills.create(project, skill_bundle(name, {"workflow.yaml": text.encode()}), by=operator)
        return name

    return publish


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def carry(db: None) -> Callable[[], None]:
    """Return a function that lets a worker carry all runs until each has ended or waits."""
    return lambda: finish(RunWorker(poll_seconds=0))


@pytest.fixture
def started(project: Project, workflow: Workflow, carry: Callable[[], None], author: Actor) -> Started:
    """Return a function that starts a workflow, and carries it."""

    def start(text: str, name: str = "flow", *, by: Actor = author, carried: bool = True, **more: Any) -> Run:
        if not project.skills.filter(name=name).exists():
            workflow(text, name)
        run = runs.start(project, name, by=by, **more)
        if carried:
            carry()
        run.refresh_from_db()
        return run

    return start
