"""Runs from their start to their end, with a real worker and a real database."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.models import Event, Project
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.workflows.conftest import CHAIN, finish, states


def test_a_run_carries_values_from_its_inputs_to_its_outputs(
    project: Project, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    run = runs.start(project, workflow(CHAIN), inputs={"name": "Ada"}, by=author)
    assert run.state == "queued"
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.outputs, run.reason) == ("completed", {"text": "Hello Ada"}, "")
    assert states(run) == {"render": "completed", "copy": "completed"}
    assert list(Event.objects.filter(verb__startswith="run.").values_list("verb", flat=True).order_by("pk")) == [
        "run.started", "run.completed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("capability", "inputs", "outputs"),
    [
        ("data.echo", {"value": 7}, {"value": 7}),
        ("data.echo", {}, {"value": None}),
        ("text.trim", {"text": " a "}, {"text": "a"}),
        ("text.template", {"template": "Hi"}, {"text": "Hi"}),
        ("csv.render", {"rows": [{"a": 1}]}, {"text": "a\r\n1\r\n"}),
        ("security.secrets.detect", {"text": "nothing"}, {"allowed": True, "findings": [], "reason": ""}),
    ],
)
def test_a_single_call_returns_everything_that_it_produced(
    project: Project, author: Actor, worker: RunWorker, capability: str, inputs: Any, outputs: Any
) -> None:
    run = runs.start_call(project, capability, inputs=inputs, by=author)
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.reason, run.outputs) == ("completed", "", outputs)
