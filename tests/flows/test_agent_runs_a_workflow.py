"""An agent starts a workflow, a person approves the call that it asks for, and the agent gets the outputs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.models import Event, Project, User
from registry.services.agents import tokens
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows.run_worker import RunWorker
from tests.api.runs.served import content, serve
from tests.conftest import Api, skill_bundle
from tests.services.workflows.conftest import LEDGER, capabilities, finish

__all__ = ["capabilities"]

PAY = """
id: pay
version: 1.0.0
inputs: {customer: {type: string, required: true}, amount: {type: integer, required: true}}
outputs: {entry: {type: string}}
steps:
  - id: describe
    uses: text.template
    input: {template: "{{customer}} gets {{amount}}", variables: {customer: inputs.customer, amount: inputs.amount}}
    output: {text: vars.entry}
  - id: write
    uses: ledger.entry.write
    input: {key: vars.entry}
  - id: tell
    uses: data.echo
    input: {value: vars.entry}
    output: {value: outputs.entry}
"""
ORDER = {"skill": "pay", "inputs": {"customer": "Ada", "amount": 7}}


@pytest.fixture
def agent(api: Callable[..., Api]) -> Api:
    return api(roles.READ, roles.RUN, agent="refund-desk")


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    scopes = (roles.READ, roles.REVIEW)
    return Api(project, tokens.create_token(project, user=person(roles.REVIEWER), scopes=scopes, by=operator))


@pytest.fixture
def pay(project: Project, operator: Actor, capabilities: Callable[..., None]) -> None:
    capabilities(ledger=LEDGER)
    skills.create(project, skill_bundle("pay", {"workflow.yaml": PAY.encode()}), by=operator)


def decide(caller: Api, run: dict[str, Any], action: str, **more: Any) -> Any:
    question = run["questions"][0]
    return caller.send(
        "POST", f"/runs/{run['id']}/{action}", {"question": question["id"], "digest": question["digest"], **more}
    )


@pytest.mark.usefixtures("pay")
def test_an_agent_runs_a_workflow_and_a_person_approves_its_call(agent: Api, reviewer: Api) -> None:
    worker = RunWorker(poll_seconds=0)
    started = agent.send("POST", "/runs", ORDER)
    assert started.status_code == 202
    path = f"/runs/{started.json()['id']}"

    finish(worker)
    waiting = agent.get(path)
    assert (waiting.json()["state"], waiting.json()["outputs"]) == ("waiting", None)
    assert agent.get(path, headers={"If-None-Match": waiting["ETag"]}).status_code == 304
    refused = decide(agent, waiting.json(), "approve")
    assert refused.status_code == 403, "an agent cannot approve its own call"

    seen = reviewer.get("/runs", state="waiting").json()["results"]
    assert [run["id"] for run in seen] == [started.json()["id"]]
    [question] = reviewer.get(path).json()["questions"]
    assert question["shown"]["input"] == {"key": "Ada gets 7"}
    assert (question["shown"]["side_effects"], question["obstacle"]) == (True, "")
    assert decide(reviewer, {"id": seen[0]["id"], "questions": [question]}, "approve").status_code == 200

    finish(worker)
    done = agent.get(path, headers={"If-None-Match": waiting["ETag"]}).json()
    assert (done["state"], done["outputs"]) == ("completed", {"entry": "Ada gets 7"})
    assert [(step["path"], step["attempts"]) for step in done["steps"]] == [("describe", 1), ("write", 1), ("tell", 1)]
    names = list(Event.objects.filter(data__run=done["id"]).order_by("pk").values_list("verb", "actor_name"))
    assert names == [
        ("run.started", "refund-desk"), ("run.waiting", "skillsite"), ("question.approved", "reviewer"),
        ("run.completed", "skillsite"),
    ]  # fmt: skip
    assert verification.verify()[1] == []


@pytest.mark.usefixtures("pay")
def test_an_agent_calls_a_capability_and_follows_the_error_to_its_result(agent: Api, reviewer: Api) -> None:
    worker = RunWorker(poll_seconds=0)
    call = serve(agent, "POST", "/capabilities/ledger.entry.write/call", {"inputs": {"key": "7"}})
    finish(worker)
    answer = call.follow.look()
    call.close()
    problem = json.loads(answer.content)
    assert (answer.status_code, problem["code"]) == (428, "confirmation-required")

    run = reviewer.client.get(problem["poll"], headers=reviewer.headers).json()
    assert run["questions"][0]["id"] == problem["question"]["id"]
    assert decide(reviewer, run, "approve", comment="Known customer.").status_code == 200
    finish(worker)
    done = agent.client.get(problem["poll"], headers=agent.headers).json()
    assert (done["state"], done["questions"][0]["comment"]) == ("completed", "Known customer.")
    stream = serve(agent, "GET", f"/runs/{done['id']}/events")
    assert b'"state": "completed"' in content(stream)


@pytest.mark.usefixtures("pay")
def test_a_denied_call_is_not_made(agent: Api, reviewer: Api) -> None:
    worker = RunWorker(poll_seconds=0)
    path = f"/runs/{agent.send('POST', '/runs', ORDER).json()['id']}"
    finish(worker)
    assert decide(reviewer, reviewer.get(path).json(), "deny", comment="Wrong customer.").status_code == 200
    finish(worker)
    done = agent.get(path).json()
    assert (done["state"], {step["path"]: step["attempts"] for step in done["steps"]}["write"]) == ("denied", 0)
    assert "Wrong customer." in done["reason"]
