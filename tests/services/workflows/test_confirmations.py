"""Confirmations of capabilities: each covers one call with one input, under one definition."""

from collections.abc import Callable

import pytest

from registry.core.errors import Conflict
from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import LEDGER, finish

WRITE = """
id: write
version: 1.0.0
inputs: {key: {type: string, required: true}}
steps: [{id: write, uses: ledger.entry.write, input: {key: inputs.key}}]
"""


def approve(question: RunQuestion, by: Actor, digest: str = "") -> Run:
    project, digest = question.run.project, digest or question.digest
    return questions.approve(project, question.run_id, question.pk, digest=digest, by=by)


def after(run: Run, worker: RunWorker) -> str:
    finish(worker)
    run.refresh_from_db()
    return run.state


def test_a_confirmation_covers_one_input_and_one_call(
    project: Project, workflow: Callable[..., str], capabilities: Callable[..., None], author: Actor, reviewer: Actor,
    worker: RunWorker,
) -> None:  # fmt: skip
    capabilities(ledger=LEDGER)
    name = workflow(WRITE)
    first, second = (runs.start(project, name, inputs={"key": key}, by=author) for key in ("a", "b"))
    finish(worker)
    one, other = first.questions.get(), second.questions.get()
    assert one.shown["input"] == {"key": "a"}
    assert one.digest != other.digest
    with nothing_left_behind(), pytest.raises(Conflict):
        approve(other, reviewer, digest=one.digest)
    approve(one, reviewer)
    finish(worker)
    assert [Run.objects.get(pk=run.pk).state for run in (first, second)] == ["completed", "waiting"]


def test_a_definition_that_becomes_stricter_asks_again(
    project: Project, workflow: Callable[..., str], capabilities: Callable[..., None], author: Actor, reviewer: Actor,
    worker: RunWorker,
) -> None:  # fmt: skip
    capabilities(ledger=LEDGER)
    run = runs.start(project, workflow(WRITE), inputs={"key": "a"}, by=author)
    finish(worker)
    question = run.questions.get()
    capabilities(ledger=LEDGER.replace("Writes one line", "Writes two lines"))
    approve(question, reviewer)
    assert after(run, worker) == "waiting"
    again = run.questions.get(state="open")
    assert again.digest != question.digest
    approve(again, reviewer)
    assert after(run, worker) == "completed"
