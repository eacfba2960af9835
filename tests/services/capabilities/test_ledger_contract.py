"""The contract of operators' files, from file to call: trust, confirmation, gate, secret and idempotency key."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core import serializers

from registry.core import roles
from registry.models import Event, Project, Run, RunQuestion, RunStep
from registry.services.agents import agents
from registry.services.permissions import Actor, agent
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.core.workflows.definitions import LEAKED, LEDGER
from tests.services.receivers import Receiver, answering, receiving
from tests.services.workflows.conftest import capabilities as capabilities
from tests.services.workflows.conftest import celery as celery
from tests.services.workflows.conftest import finish, states
from tests.services.workflows.conftest import worker as worker
from tests.services.workflows.conftest import workflow as workflow

SECRET = "token-that-nobody-may-read"
FLOW = """
id: book
version: 1.0.0
inputs: {key: {type: string, required: true}}
outputs: {ok: {type: boolean, required: true}}
steps:
  - {id: write, uses: ledger.entry.write, input: {key: inputs.key}, output: {ok: outputs.ok}}
"""


@pytest.fixture
def ledger(settings: Any, capabilities: Callable[..., None]) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        settings.WORKFLOW_SECRETS = {"LEDGER_TOKEN": SECRET}
        capabilities(ledger=LEDGER.replace("ledger.internal", receiver.host))
        receiver.behave = answering(200, b'{"ok": true}')
        yield receiver


def answered(run: Run, worker: RunWorker, by: Actor) -> Run:
    """Approve the only open question of a run, and let it end."""
    finish(worker)
    question = RunQuestion.objects.get(run=run, state="open")
    questions.approve(run.project, run.pk, question.pk, digest=question.digest, by=by)
    finish(worker)
    run.refresh_from_db()
    return run


def test_an_approved_call_reaches_the_ledger_once_with_its_secret_and_key(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker, ledger: Receiver
) -> None:
    run = runs.start(project, workflow(FLOW), inputs={"key": "a"}, by=author)
    finish(worker)
    assert (states(run), ledger.got) == ({"write": "waiting"}, [])
    shown = RunQuestion.objects.get(run=run).shown
    assert (shown["target"], shown["input"], shown["side_effects"]) == (ledger.host, {"key": "a"}, True)
    assert answered(run, worker, reviewer).outputs == {"ok": True}
    (got,) = ledger.got
    assert (got.method, got.path, json.loads(got.body)) == ("POST", "/entries", {"key": "a"})
    assert got.headers["authorization"] == SECRET
    assert "write" in got.headers["idempotency-key"]
    for model in (Run, RunStep, RunQuestion, Event):
        assert SECRET not in serializers.serialize("json", model.objects.all())


def test_the_gate_blocks_a_secret_in_the_input_although_a_person_approved(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker, ledger: Receiver
) -> None:
    run = runs.start(project, workflow(FLOW), inputs={"key": f"use {LEAKED}"}, by=author)
    run = answered(run, worker, reviewer)
    assert (run.state, run.code, ledger.got) == ("failed", "safety-gate", [])
    assert LEAKED not in run.reason


def test_a_direct_call_passes_the_same_policy(
    project: Project, author: Actor, reviewer: Actor, worker: RunWorker, ledger: Receiver
) -> None:
    run = runs.start_call(project, "ledger.entry.write", inputs={"key": "a"}, by=author)
    finish(worker)
    assert ledger.got == []
    assert answered(run, worker, reviewer).outputs == {"ok": True}
    assert len(ledger.got) == 1


def test_an_agent_in_the_sandbox_is_not_trusted_and_nobody_is_asked(
    project: Project, operator: Actor, workflow: Callable[..., str], worker: RunWorker, ledger: Receiver
) -> None:
    bot = agents.ensure(project, "bot", by=operator)
    agents.amend(project, "bot", {"trust": "sandbox"}, by=operator)
    bot.refresh_from_db()
    run = runs.start(project, workflow(FLOW), inputs={"key": "a"}, by=agent(bot, frozenset({roles.RUN, roles.READ})))
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.code, ledger.got) == ("failed", "safety-trust", [])
    assert not RunQuestion.objects.exists()


def test_a_definition_that_changes_after_the_approval_is_asked_again(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker, ledger: Receiver,
    capabilities: Callable[..., None],
) -> None:  # fmt: skip
    run = runs.start(project, workflow(FLOW), inputs={"key": "a"}, by=author)
    finish(worker)
    capabilities(ledger=LEDGER.replace("ledger.internal/entries", f"{ledger.host}/other"))
    run = answered(run, worker, reviewer)
    assert (run.state, ledger.got) == ("waiting", [])
    assert answered(run, worker, reviewer).state == "completed"
    assert [got.path for got in ledger.got] == ["/other"]


def test_a_capability_that_is_removed_is_not_called(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Actor, worker: RunWorker, ledger: Receiver,
    settings: Any,
) -> None:  # fmt: skip
    run = runs.start(project, workflow(FLOW), inputs={"key": "a"}, by=author)
    finish(worker)
    (settings.CAPABILITIES_DIRS[0] / "ledger.yaml").unlink()
    run = answered(run, worker, reviewer)
    assert (run.state, run.code, ledger.got) == ("failed", "capability", [])
