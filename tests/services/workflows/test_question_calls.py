"""Facts about the call behind a question that the question itself does not store."""

from collections.abc import Callable
from hashlib import sha256

import pytest

from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import question_calls, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import LEDGER, finish

PAID = """
id: paid
version: 1.0.0
steps:
  - {id: write, uses: ledger.entry.write, input: {key: seven}}
"""
REMOTE = """
id: ledger.entry.write
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true}}
outputs: {ok: {type: boolean, required: true}}
properties: {side_effects: true, idempotent: false}
safety: {requires_confirmation: true}
binding:
  kind: http
  method: POST
  url: "https://ledger.example.com/entries"
  headers: {Authorization: "Bearer secret:LEDGER_TOKEN", X-Second: "secret:A_KEY secret:LEDGER_TOKEN"}
  body: input
"""
NESTED = """
id: outer
version: 1.0.0
steps:
  - {id: call, uses: "skill:paid", config: {foreach: {items: "[1, 2]"}}}
"""
ROUTED = """
id: routed
version: 1.0.0
inputs: {which: {type: string, default: a}}
steps:
  - id: call
    uses: "skill:paid"
    config: {router: {on: inputs.which, cases: {a: "skill:paid", b: "skill:other"}}}
"""


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def paid(
    project: Project, capabilities: Callable[..., None], workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> Callable[[str], RunQuestion]:
    """Return a function that registers the ledger, and returns the question of a run that wants to call it."""

    def ask(definition: str) -> RunQuestion:
        capabilities(ledger=definition)
        run = runs.start(project, workflow(PAID, "paid"), by=author)
        finish(worker)
        return RunQuestion.objects.get(run=run)

    return ask


@pytest.fixture(autouse=True)
def secrets(settings: object) -> None:
    settings.WORKFLOW_SECRETS = {"LEDGER_TOKEN": "x" * 20, "A_KEY": "y" * 20}  # type: ignore[attr-defined]


def test_secrets_are_named_once_and_without_their_values(paid: Callable[[str], RunQuestion]) -> None:
    facts = question_calls.facts(paid(REMOTE))
    assert facts == question_calls.CallFacts(("A_KEY", "LEDGER_TOKEN"))


def test_a_changed_definition_is_noticed(paid: Callable[[str], RunQuestion], capabilities: Callable[..., None]) -> None:
    question = paid(LEDGER)
    assert question_calls.facts(question) == question_calls.CallFacts()
    capabilities(ledger=LEDGER.replace("one line", "two lines"))
    assert question_calls.facts(question).is_changed


def test_a_capability_that_is_gone_is_noticed(paid: Callable[[str], RunQuestion]) -> None:
    question = paid(LEDGER)
    question.shown["capability"] = "ledger.gone"
    assert question_calls.facts(question) == question_calls.CallFacts(is_gone=True)
    assert question_calls.interrupted(question).outputs == {}


def test_the_key_is_the_one_that_the_service_gets(paid: Callable[[str], RunQuestion]) -> None:
    question = paid(REMOTE.replace("body: input", "body: input\n  idempotency_header: X-Request-Key"))
    call = question_calls.interrupted(question)
    assert (call.key_name, call.key) == ("X-Request-Key", f"run-{question.run_id}/write")
    assert list(call.outputs) == ["ok"]
    assert call.started_at is not None
    question.path = f"{'long' * 100}[1]"
    shown = question_calls.interrupted(question).key
    assert len(shown) <= 255 and shown.endswith(sha256(f"run-{question.run_id}/{question.path}".encode()).hexdigest())


def test_a_call_without_a_service_has_a_key_without_a_name(paid: Callable[[str], RunQuestion]) -> None:
    question = paid(LEDGER)
    call = question_calls.interrupted(question)
    assert (call.key_name, call.key) == ("", f"run-{question.run_id}/write")


def test_the_step_of_a_path_in_a_nested_skill_is_found(
    project: Project, paid: Callable[[str], RunQuestion], workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    paid(LEDGER)
    run = runs.start(project, workflow(NESTED, "outer"), by=author)
    finish(worker)
    paths = set(run.questions.values_list("path", flat=True))
    assert paths == {"call[0]/write", "call[1]/write"}
    for path in (*paths, "write"):
        step = question_calls.step_of(run, path)
        assert (step.uses if step else None) == ("ledger.entry.write" if path in paths else None)
    assert question_calls.step_of(run, "call[0]") is not None


def test_a_routed_step_does_not_tell_which_skill_it_is_in(
    project: Project, paid: Callable[[str], RunQuestion], workflow: Callable[..., str], author: Actor
) -> None:
    paid(LEDGER)
    workflow(PAID.replace("id: paid", "id: other"), "other")
    run: Run = runs.start(project, workflow(ROUTED, "routed"), by=author)
    assert question_calls.step_of(run, "call") is not None
    assert question_calls.step_of(run, "call/write") is None
