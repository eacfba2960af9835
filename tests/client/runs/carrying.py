"""Workflows for tests of the client, and a worker that carries their runs."""

from collections.abc import Callable, Iterator
from typing import Any

from registry.client import Retrying, SkillsiteClient
from registry.models import Project, RunQuestion
from registry.services import permissions
from registry.services.skills import skills
from registry.services.workflows import questions
from registry.services.workflows.run_worker import RunWorker
from tests.client.conftest import Connect
from tests.conftest import skill_bundle

Command = Callable[..., tuple[int, str, str]]
Meanwhile = Callable[..., None]

GREET = """
id: greet
version: 1.0.0
inputs: {name: {type: string, required: true}, times: {type: integer, default: 1}}
outputs: {text: {type: string, required: true}}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{name}} {{times}}", variables: {name: inputs.name, times: inputs.times}}
    output: {text: vars.text}
  - id: copy
    uses: data.echo
    input: {value: vars.text}
    output: {value: outputs.text}
"""
FAILS = """
id: fails
version: 1.0.0
steps:
  - id: stop
    uses: control.fail
    input: {message: "No stock."}
"""
ASKS = """
id: asks
version: 1.0.0
outputs: {by: {type: string}}
steps:
  - id: sure
    uses: human.approve
    input: {question: "Send it?"}
    output: {by: outputs.by}
"""
WIDE = """
id: wide
version: 1.0.0
inputs: {items: {type: array, required: true}}
outputs: {all: {type: array}}
steps:
  - id: each
    uses: data.echo
    input: {value: item}
    config: {foreach: {items: inputs.items}}
    output: {value: outputs.all}
"""
WORKFLOWS = {"greet": GREET, "fails": FAILS, "asks": ASKS, "wide": WIDE}


def publish(project: Project, name: str) -> None:
    bundle = skill_bundle(name, {"workflow.yaml": WORKFLOWS[name].encode()})
    skills.create(project, bundle, by=permissions.operator())


def work() -> None:
    """Carry out everything that is due."""
    worker = RunWorker(poll_seconds=0)
    while worker.work(timeout=10) or worker.held:
        pass


def answer(project: Project, by: permissions.Actor, *, approve: bool = True) -> None:
    """Answer the open question of the only run."""
    question = RunQuestion.objects.get(state="open")
    decide = questions.approve if approve else questions.deny
    decide(project, question.run_id, question.pk, digest=question.digest, by=by)


def working(connect: Connect, *actions: Callable[[], object], **more: Any) -> SkillsiteClient:
    """Return a client. While it pauses, the next of the actions happens."""
    return connect(retrying=Retrying(sleep=meanwhile(*actions), **more))


def meanwhile(*actions: Callable[[], object]) -> Callable[[float], None]:
    """Return a sleep in which the next of these actions happens. After the last one, nothing does."""
    left: Iterator[Callable[[], object]] = iter(actions)

    def sleep(seconds: float) -> None:
        next(left, lambda: None)()

    return sleep
