"""Projects with workflows, and a worker that carries their runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import call_worker, runs
from registry.services.workflows.run_leases import is_due
from registry.services.workflows.run_worker import RunWorker
from tests.conftest import skill_bundle
from tests.services.workflows.celery_inside import CeleryInside

LEDGER = """
id: ledger.entry.write
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true}}
outputs: {value: {type: string}}
properties: {side_effects: true, idempotent: false}
safety: {trust_level: standard, requires_confirmation: true}
binding: {kind: builtin, function: data.echo}
"""

CHAIN = """
id: greet
version: 1.0.0
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string, required: true}}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{name}}", variables: {name: inputs.name}}
    output: {text: vars.text}
  - id: copy
    uses: data.echo
    input: {value: vars.text}
    output: {value: outputs.text}
"""

ASK = """
id: ask
version: 1.0.0
steps:
  - id: ask
    uses: {uses}
    input: {input}
    config: {config}
"""
APPROVE = "human.approve", '{question: "Publish the text?"}'
INPUT = "human.input", '{question: "How many?", fields: {number: {type: integer}}}'


@pytest.fixture
def celery(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> CeleryInside:
    settings.CELERY_BROKER_URL = "memory://"
    # The connection holds the transaction of the test.
    monkeypatch.setattr(call_worker, "close_old_connections", lambda: None)
    return CeleryInside()


@pytest.fixture(params=["threads", "celery"])
def worker(request: pytest.FixtureRequest, db: None) -> RunWorker:
    """Return a worker with threads, and then one with rows for Celery."""
    executor = request.getfixturevalue("celery") if request.param == "celery" else None
    return RunWorker(executor=executor, poll_seconds=0)


@pytest.fixture
def capabilities(tmp_path: Path, settings: Any) -> Callable[..., None]:
    """Return a function that registers capabilities from texts of YAML."""
    directory = tmp_path / "capabilities"
    directory.mkdir()
    settings.CAPABILITIES_DIRS = [directory]
    settings.SKILLS_RELOAD_SECONDS = 1e-9

    def register(**files: str) -> None:
        for name, text in files.items():
            (directory / f"{name}.yaml").write_text(text)

    return register


@pytest.fixture
def workflow(project: Project, operator: Actor) -> Callable[..., str]:
    """Return a function that publishes a skill with a workflow, and returns its name."""

    def publish(text: str, name: str = "flow") -> str:
        skills.create(project, skill_bundle(name, {"workflow.yaml": text.encode()}), by=operator)
        return name

    return publish


@pytest.fixture
def asking(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> Callable[..., RunQuestion]:
    """Return a function that starts a run, and returns the question it waits for."""

    def ask(kind: tuple[str, str] = APPROVE, config: str = "{}", name: str = "flow", by: Actor = author) -> RunQuestion:
        text = ASK.format(uses=kind[0], input=kind[1], config=config)
        if not project.skills.filter(name=name).exists():
            workflow(text, name)
        run = runs.start(project, name, by=by)
        finish(worker)
        return RunQuestion.objects.get(run=run)

    return ask


def finish(worker: RunWorker) -> None:
    """Let a worker work until it holds no run and none is due.

    The clock of a worker is that of PostgreSQL, which may be a moment behind the one that a run was started by.
    """
    while worker.work(timeout=10) or worker.held or Run.objects.filter(is_due(timezone.now())).exists():
        pass


def states(run: Run) -> dict[str, str]:
    return dict(run.steps.values_list("path", "state"))
