"""An agent starts a run, a person answers in the browser what it asks, and the run goes on once where it stopped."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Event, Project, RunQuestion
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows.run_worker import RunWorker
from tests.conftest import Api, skill_bundle
from tests.flows.conftest import hidden_field, visible_text
from tests.services.workflows.conftest import LEDGER, capabilities, finish

__all__ = ["capabilities"]

REFUND = """
id: refund
version: 1.0.0
inputs: {customer: {type: string, required: true}}
outputs: {line: {type: string}}
steps:
  - id: ask-amount
    uses: human.input
    input: {question: "How much do we refund?", fields: {amount: {type: integer, required: true}}}
    output: {values: vars.answer}
  - id: describe
    uses: text.template
    input:
      template: "{{customer}} gets {{amount}}"
      variables: {customer: inputs.customer, amount: vars.answer.amount}
    output: {text: outputs.line}
  - {id: write, uses: ledger.entry.write, input: {key: outputs.line}}
"""


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def agent(api: Callable[..., Api]) -> Api:
    return api(roles.READ, roles.RUN, agent="refund-desk")


@pytest.fixture
def reviewer(browser: Callable[[str], Client]) -> Client:
    return browser(roles.REVIEWER)


@pytest.fixture
def waiting(
    project: Project, operator: Actor, agent: Api, reviewer: Client, worker: RunWorker,
    capabilities: Callable[..., None],
) -> dict[str, Any]:  # fmt: skip
    """Return a run of the agent that waits for its first answer."""
    capabilities(ledger=LEDGER)
    skills.create(project, skill_bundle("refund", {"workflow.yaml": REFUND.encode()}), by=operator)
    started = agent.send("POST", "/runs", {"skill": "refund", "inputs": {"customer": "Ada"}})
    assert started.status_code == 202, started.content
    finish(worker)
    run: dict[str, Any] = agent.get(f"/runs/{started.json()['id']}").json()
    assert run["state"] == "waiting"
    return run


def page_of(run: dict[str, Any]) -> str:
    """Return the page of the question that waits."""
    question = RunQuestion.objects.get(run=run["id"], state="open")
    return f"/projects/demo/runs/{run['id']}/questions/{question.pk}/"


def press(client: Client, page: Any, button: str, **fields: str) -> Any:
    """Press a button of a page that a person has open."""
    digest = hidden_field(page, "digest")
    return client.post(f"{page.request['PATH_INFO']}{button}/", {"digest": digest, **fields})


def fill_in(client: Client, page: Any, amount: str) -> Any:
    """Type the amount into the form of a page, and send it."""
    [name] = re.findall(r'name="(q\d+-field-0)"', page.content.decode())
    return press(client, page, "answer", **{name: amount})


def attempts(agent: Api, run: dict[str, Any]) -> dict[str, int]:
    return {step["path"]: step["attempts"] for step in agent.get(f"/runs/{run['id']}").json()["steps"]}


def test_a_run_parks_twice_and_goes_on_once_each_time(
    waiting: dict[str, Any], agent: Api, worker: RunWorker, reviewer: Client
) -> None:
    assert "How much do we refund?" in visible_text(reviewer.get("/inbox/"))
    assert "How much do we refund?" in visible_text(reviewer.get("/projects/demo/waiting/"))
    page = reviewer.get(page_of(waiting))
    assert fill_in(reviewer, page, "seven").status_code == 422
    assert fill_in(reviewer, page, "7").status_code == 302
    finish(worker)

    page = reviewer.get(page_of(waiting))
    text = visible_text(page)
    assert "Allow the call of ledger.entry.write?" in text
    assert "Ada gets 7" in text, "the input that the approval is about"
    assert "Agent refund-desk" in text
    assert press(reviewer, page, "approve", comment="Known customer.").status_code == 302
    assert press(reviewer, page, "approve").status_code == 409
    finish(worker)

    done = agent.get(f"/runs/{waiting['id']}").json()
    assert (done["state"], done["outputs"]) == ("completed", {"line": "Ada gets 7"})
    assert attempts(agent, waiting) == {"ask-amount": 1, "describe": 1, "write": 1}
    assert "Known customer." in visible_text(reviewer.get(page.request["PATH_INFO"]))
    assert "No run waits for you" in visible_text(reviewer.get("/projects/demo/waiting/"))
    decided = Event.objects.filter(verb__startswith="question.").order_by("pk").values_list("verb", "actor_name")
    assert list(decided) == [("question.answered", "reviewer"), ("question.approved", "reviewer")]
    assert verification.verify()[1] == []


def test_a_worker_that_ends_while_the_run_waits_changes_nothing(
    waiting: dict[str, Any], agent: Api, reviewer: Client
) -> None:
    fill_in(reviewer, reviewer.get(page_of(waiting)), "7")
    finish(RunWorker(poll_seconds=0))
    assert attempts(agent, waiting) == {"ask-amount": 1, "describe": 1, "write": 0}
    assert "Ada gets 7" in visible_text(reviewer.get(page_of(waiting)))


def test_a_denial_is_the_end_and_the_agent_reads_the_reason(
    waiting: dict[str, Any], agent: Api, worker: RunWorker, reviewer: Client
) -> None:
    press(reviewer, reviewer.get(page_of(waiting)), "deny", comment="She has been paid.")
    finish(worker)
    done = agent.get(f"/runs/{waiting['id']}").json()
    assert done["state"] == "denied"
    assert "She has been paid." in done["reason"]
    assert attempts(agent, waiting) == {"ask-amount": 1}


def test_an_approval_does_not_count_for_a_definition_that_changed_meanwhile(
    waiting: dict[str, Any], agent: Api, worker: RunWorker, reviewer: Client,
    capabilities: Callable[..., None],
) -> None:  # fmt: skip
    fill_in(reviewer, reviewer.get(page_of(waiting)), "7")
    finish(worker)
    page = reviewer.get(page_of(waiting))
    capabilities(ledger=LEDGER.replace("Writes one line to the ledger.", "Writes one line to all ledgers."))
    assert press(reviewer, page, "approve").status_code == 302
    finish(worker)
    assert attempts(agent, waiting)["write"] == 0, "nothing was called"
    again = reviewer.get(page_of(waiting))
    assert "Asked again, because something changed" in visible_text(again)
    assert "Writes one line to all ledgers." in visible_text(again)
    press(reviewer, again, "approve")
    finish(worker)
    assert attempts(agent, waiting)["write"] == 1
