"""Calls of single capabilities: the same policy as in a workflow, and errors that say what to do."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from registry.api import capabilities as views
from registry.api import problems
from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.workflows.failures import Code
from registry.core.workflows.records import FINAL
from registry.lib.places import Places
from registry.models import Agent, Project, Run, RunQuestion
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.workflows import call_results
from skillsite.server import answers
from tests.api import contract
from tests.api.contract import problem
from tests.api.runs.requests import decide, read
from tests.api.runs.served import Clock, content, serve
from tests.conftest import Api
from tests.services.workflows.conftest import LEDGER, capabilities

__all__ = ["capabilities"]


@pytest.fixture
def register(capabilities: Callable[..., None], settings: Any) -> Callable[..., None]:
    settings.WORKFLOW_SECRETS = {"LEDGER_TOKEN": "a-secret-of-the-ledger"}
    return capabilities


Work = Callable[[], None]
Register = Callable[..., None]
GATED = """
id: text.checked
version: 1.0.0
description: Repeats a text.
inputs: {text: {type: string, required: true}}
outputs: {value: {type: string}}
properties: {side_effects: false}
safety: {trust_level: standard, mandatory_pre_gates: [{capability: GATE, input: {INPUT}}]}
binding: {kind: builtin, function: data.echo}
"""
WEB = """
id: ledger.web
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true}}
outputs: {ok: {type: boolean}}
properties: {side_effects: true, idempotent: true}
safety: {trust_level: elevated}
binding:
  kind: http
  method: POST
  url: "https://ledger.example/hidden-path"
  headers: {Authorization: "secret:LEDGER_TOKEN"}
  body: input
"""


def call(caller: Api, capability: str, inputs: Any = None, **more: Any) -> Any:
    body = {**({} if inputs is None else {"inputs": inputs}), **more}
    return caller.send("POST", f"/capabilities/{capability}/call", body)


@pytest.fixture
def called(bot: Api, work: Work) -> Callable[..., Any]:
    """Return a function that calls a capability, lets a worker carry the run, and returns what the server sends."""

    def make(capability: str, inputs: Any = None, caller: Api = bot) -> Any:
        body = {} if inputs is None else {"inputs": inputs}
        first = serve(caller, "POST", f"/capabilities/{capability}/call", body)
        assert first.status == 202, content(first)
        assert json.loads(content(first))["state"] == "queued"
        assert first.follow.look() is None
        work()
        found = first.follow.look()
        first.close()
        return checked(found)

    return make


def checked(response: Any) -> Any:
    """Hold a later answer to the OpenAPI document."""
    path = "/api/v1/projects/{project}/capabilities/{capability}/call"
    contract.check(path, "POST", response.status_code, response["Content-Type"], response.content)
    response.json = lambda: json.loads(response.content)
    return response


def test_a_call_that_ends_in_time_is_answered_with_its_outputs(called: Callable[..., Any]) -> None:
    answer = called("text.template", {"template": "Hello {{name}}", "variables": {"name": "Ada"}})
    body = json.loads(answer.content)
    assert (answer.status_code, body["state"], body["outputs"]) == (200, "completed", {"text": "Hello Ada"})
    assert body["capability"] == "text.template"
    assert Run.objects.get().pk == body["run"]


def test_a_later_answer_keeps_the_headers_of_the_site(bot: Api, work: Work) -> None:
    first = serve(bot, "POST", "/capabilities/data.echo/call", {"inputs": {"value": 1}})
    work()
    later = answers.merged(first, first.follow.look())
    headers = dict(later.headers)
    assert (later.status, headers["Content-Length"]) == (200, str(later.length))
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "RateLimit-Remaining" in headers
    assert len(headers) == len(later.headers)


def test_a_call_that_takes_longer_is_answered_with_its_run(bot: Api, work: Work) -> None:
    answer = call(bot, "data.echo", {"value": 1}, wait_seconds=0)
    assert (answer.status_code, answer.json()["state"], answer.json()["outputs"]) == (202, "queued", None)
    work()
    assert read(bot, {"id": answer.json()["run"]})["outputs"] == {"value": 1}


def test_nobody_waits_longer_than_asked(bot: Api, clock: Clock) -> None:
    first = serve(bot, "POST", "/capabilities/data.echo/call", {"wait_seconds": 3, "inputs": {"value": 1}})
    assert first.follow.look() is None
    clock.now = 3.0
    assert not first.follow.is_late
    found = checked(first.follow.look())
    assert (found.status_code, found.json()["state"], found.json()["outputs"]) == (202, "queued", None)
    clock.now = 5.0
    assert first.follow.is_late


def test_an_answer_at_the_end_of_the_wait_names_the_state_of_then(bot: Api, clock: Clock) -> None:
    first = serve(bot, "POST", "/capabilities/data.echo/call", {"wait_seconds": 3, "inputs": {"value": 1}})
    Run.objects.update(state="running")
    clock.now = 3.0
    assert first.follow.look() is not None
    assert json.loads(content(first))["state"] == "queued"
    assert checked(first.follow.look()).json()["state"] == "running"


def test_wrong_inputs_of_a_call_name_its_capability(bot: Api) -> None:
    refused = problem(call(bot, "data.count", {"item": []}), 400, "invalid-request")
    assert refused["detail"].startswith("data.count: “item” is not a field (did you mean “items”?)")
    assert not Run.objects.exists()


def test_calls_that_find_no_place_to_wait_are_made_all_the_same(
    bot: Api, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_waiting", Places(1, 1))
    first, second = (serve(bot, "POST", "/capabilities/data.echo/call", {"inputs": {"value": 1}}) for _ in range(2))
    assert (first.status, second.status, second.follow) == (202, 202, None)
    first.close()
    assert serve(bot, "POST", "/capabilities/data.echo/call", {"inputs": {"value": 1}}).follow is not None
    work()
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}


def test_a_call_that_needs_a_confirmation_says_how_to_get_it(
    bot: Api, reviewer: Api, register: Register, called: Callable[..., Any], project: Project, work: Work
) -> None:
    register(ledger=LEDGER)
    refused = problem(called("ledger.entry.write", {"key": "a"}), 428, "confirmation-required")
    question = RunQuestion.objects.get()
    assert refused["question"]["id"] == question.pk and refused["question"]["digest"] == question.digest
    assert refused["who"] == "A reviewer who did not start the run" and refused["who"] in refused["detail"]
    assert refused["page"].endswith(reverse("run-question", args=[project.slug, refused["run"], question.pk]))
    polled = bot.client.get(refused["poll"], headers=bot.headers).json()
    assert (polled["id"], polled["state"]) == (refused["run"], "waiting")
    problem(decide(bot, polled, "approve"), 403, "forbidden")
    assert decide(reviewer, polled, "approve").status_code == 200
    work()
    assert read(bot, {"id": refused["run"]})["state"] == "completed"


def test_a_confirmation_of_one_call_is_not_one_of_the_next(
    reviewer: Api, register: Register, called: Callable[..., Any], bot: Api
) -> None:
    register(ledger=LEDGER)
    first = problem(called("ledger.entry.write", {"key": "a"}), 428, "confirmation-required")
    decide(reviewer, read(bot, {"id": first["run"]}), "approve")
    second = problem(called("ledger.entry.write", {"key": "a"}), 428, "confirmation-required")
    assert second["question"]["digest"] != first["question"]["digest"] or second["run"] != first["run"]


def test_a_call_beyond_the_trust_of_its_caller_is_denied(
    register: Register, called: Callable[..., Any], people: Callable[..., Api]
) -> None:
    register(ledger=LEDGER.replace("trust_level: standard", "trust_level: privileged"))
    refused = problem(called("ledger.entry.write", {"key": "a"}), 403, "safety-denied")
    assert refused["reason"] == "safety-trust" and "privileged" in refused["detail"]
    Agent.objects.update(trust="privileged")
    problem(called("ledger.entry.write", {"key": "a"}), 428, "confirmation-required")


def test_a_gate_that_blocks_is_a_denial_and_a_gate_that_fails_is_not(
    register: Register, called: Callable[..., Any]
) -> None:
    gated = GATED.replace("GATE", "security.secrets.detect")
    register(good=gated.replace("INPUT", "text: input.text"))
    assert called("text.checked", {"text": "Hello"}).status_code == 200
    refused = problem(called("text.checked", {"text": f"key AKIA{'Q4X7PLM2ZT6RWB3N'}"}), 403, "safety-denied")
    assert refused["reason"] == "safety-gate" and "AKIA" not in refused["detail"]
    silent = GATED.replace("GATE", "data.echo").replace("INPUT", "value: input.text")
    register(silent=silent.replace("text.checked", "text.silent"))
    refused = problem(called("text.silent", {"text": "Hello"}), 503, "gate-failed")
    assert refused["reason"] == "safety-gate-error"


def test_a_denied_call_is_forbidden(bot: Api, reviewer: Api, register: Register, work: Work) -> None:
    register(ledger=LEDGER)
    first = serve(bot, "POST", "/capabilities/ledger.entry.write/call", {"inputs": {"key": "a"}})
    work()
    run = read(bot, {"id": json.loads(content(first))["run"]})
    decide(reviewer, run, "deny", comment="No.")
    work()
    assert problem(checked(first.follow.look()), 403, "denied")["reason"] == "denied"


def test_a_call_is_replayed(bot: Api, work: Work) -> None:
    first = call(bot, "data.echo", {"value": 1}, wait_seconds=0).json()["run"]
    work()
    again = bot.send("POST", f"/runs/{first}/replay")
    assert (again.status_code, again.json()["replay_of"]) == (202, first)
    work()
    assert read(bot, again.json())["outputs"] == {"value": 1}


def test_a_call_that_fails_is_a_bad_gateway(called: Callable[..., Any]) -> None:
    refused = problem(called("control.fail", {"message": "Out of paper."}), 502, "call-failed")
    assert refused["reason"] == "call" and refused["run"]


def test_a_cancelled_call_is_a_conflict(bot: Api, register: Register, work: Work) -> None:
    register(ledger=LEDGER)
    first = serve(bot, "POST", "/capabilities/ledger.entry.write/call", {"inputs": {"key": "a"}})
    bot.send("POST", f"/runs/{json.loads(content(first))['run']}/cancel")
    work()
    assert "cancelled by bot" in problem(checked(first.follow.look()), 409, "conflict")["detail"]


STATUS = {
    "input": 400, "output": 502, "expression": 400, "router": 400, "capability": 409, "call": 502, "timeout": 504,
    "limit": 400, "deadline": 504, "unavailable": 503, "denied": 403, "expired": 403, "safety-trust": 403,
    "safety-gate": 403, "safety-gate-error": 503, "safety-target": 403,
}  # fmt: skip


@pytest.mark.parametrize("code", [code.value for code in Code])
def test_every_failure_has_a_status(code: str) -> None:
    run = Run(pk=7, state="failed", code=code, reason="It failed.")
    answer = problems.response(call_results.failure(run))
    body = json.loads(answer.content)
    assert (answer.status_code, body["reason"], body["run"], body["detail"]) == (STATUS[code], code, 7, "It failed.")


@pytest.mark.parametrize(
    ("capability", "body", "status", "code", "says"),
    [
        ("text.templat", {}, 404, "not-found", "Did you mean text.template?"),
        ("text.template", {}, 400, "invalid-request", "template"),
        ("text.template", {"inputs": {"template": 3}}, 400, "invalid-request", "template"),
        ("text.template", {"inputs": {"template": "x", "colour": 1}}, 400, "invalid-request", "colour"),
        ("data.echo", {"inputs": 3}, 400, "invalid-request", "inputs"),
        ("data.echo", {"wait_seconds": -1}, 400, "invalid-request", "wait_seconds"),
        ("data.echo", {"wait_seconds": 31}, 400, "invalid-request", "wait_seconds"),
        ("data.echo", {"wait_seconds": "soon"}, 400, "invalid-request", "wait_seconds"),
        ("data.echo", {"confirmed": True}, 400, "invalid-request", "confirmed"),
        ("data.echo", {"trust_level": "privileged"}, 400, "invalid-request", "trust_level"),
        ("data.echo", {"inputs": {"value": "a" * 300_000}}, 413, "too-large", "262,144"),
        ("skill:greet", {}, 404, "not-found", "skill:greet"),
    ],
)
def test_a_call_that_cannot_be_made_is_refused(
    bot: Api, capability: str, body: dict[str, Any], status: int, code: str, says: str
) -> None:
    assert says in problem(bot.send("POST", f"/capabilities/{capability}/call", body), status, code)["detail"]
    assert not Run.objects.exists()


NESTED = """
id: letter.greet
version: 1.0.0
description: Greets somebody.
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string}}
properties: {side_effects: false}
safety: {trust_level: sandbox}
binding: {kind: skill, name: greet}
"""


def test_a_call_of_a_skill_outside_the_list_of_an_agent_is_refused(
    register: Register, called: Callable[..., Any], project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    register(nested=NESTED)
    answer = called("letter.greet", {"name": "Ada"})
    assert (answer.status_code, answer.json()["outputs"]) == (200, {"text": "Hello Ada"})
    agents.create(project, "limited", Definition(allowed_skills=("letter",)), by=operator)
    limited = api(roles.READ, roles.RUN, agent="limited")
    refused = problem(call(limited, "letter.greet", {"name": "Ada"}), 404, "not-found")
    assert refused["detail"] == problem(limited.get("/skills/greet"), 404, "not-found")["detail"]
    assert Run.objects.count() == 1


COMPOSED = """
id: key.compose
version: 1.0.0
description: Composes a text.
inputs: {template: {type: string}, variables: {type: object}}
outputs: {text: {type: string}}
properties: {side_effects: false}
safety:
  trust_level: standard
  mandatory_post_gates: [{capability: security.secrets.detect, input: {text: output.text}, on_fail: ON_FAIL}]
binding: {kind: builtin, function: text.template}
"""


@pytest.mark.parametrize("on_fail", ["block", "degrade", "require_human"])
def test_an_output_that_a_gate_withholds_is_in_no_answer(
    bot: Api, register: Register, work: Work, on_fail: str
) -> None:
    register(composed=COMPOSED.replace("ON_FAIL", on_fail))
    inputs = {"template": "AKIA{{rest}}", "variables": {"rest": "Q4X7PLM2ZT6RWB3N"}}
    run = call(bot, "key.compose", inputs, wait_seconds=0).json()["run"]
    work()
    found = read(bot, {"id": run})
    assert found["state"] == {"block": "failed", "degrade": "completed", "require_human": "waiting"}[on_fail]
    parts = ["", "/values", "/state", "/steps/call", "/events", *(f"/questions/{q['id']}" for q in found["questions"])]
    for part in parts:
        answer = bot.get(f"/runs/{run}{part}")
        assert answer.status_code == 200
        whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert b"AKIAQ4X7" not in whole, part


def test_a_call_needs_the_scope_run(api: Callable[..., Api], people: Callable[..., Api]) -> None:
    for caller in (api(roles.READ, roles.PROPOSE, roles.WRITE), people(roles.VIEWER), people(roles.OWNER, roles.READ)):
        for capability in ("data.echo", "no.such"):
            answer = caller.send("POST", f"/capabilities/{capability}/call", "{not json")
            assert problem(answer, 403, "forbidden")["scope"] == roles.RUN
    assert not Run.objects.exists()


def test_capabilities_are_listed_without_their_bindings(bot: Api, register: Register) -> None:
    register(ledger=LEDGER, web=WEB)
    found = {one["id"]: one for one in bot.get("/capabilities", limit="1000").json()["results"]}
    assert list(found) == sorted(found)
    assert (found["data.echo"]["source"], found["data.echo"]["kind"]) == ("built-in", "builtin")
    ledger = found["ledger.entry.write"]
    assert (ledger["source"], ledger["inputs"]["key"]["required"]) == ("operator", True)
    assert (ledger["safety"]["trust_level"], ledger["safety"]["requires_confirmation"]) == ("standard", True)
    assert ledger["properties"] == {"side_effects": True, "idempotent": False, "deterministic": False}
    assert found["ledger.web"]["target"] == "ledger.example"
    shown = json.dumps(bot.get("/capabilities/ledger.web").json())
    for secret in ("LEDGER_TOKEN", "hidden-path", "binding"):
        assert secret not in shown


def test_one_capability_is_found_by_its_id_or_alias(bot: Api, register: Register) -> None:
    register(ledger=LEDGER + "aliases: [ledger.write]\n")
    by_id, by_alias = (bot.get(f"/capabilities/{name}").json() for name in ("ledger.entry.write", "ledger.write"))
    assert by_id == by_alias and by_id["aliases"] == ["ledger.write"]
    assert "Did you mean" in problem(bot.get("/capabilities/ledger.entry.writ"), 404, "not-found")["detail"]


def test_capabilities_come_in_pages(bot: Api) -> None:
    first = bot.get("/capabilities", limit="2").json()
    assert len(first["results"]) == 2 and first["next"]
    problem(bot.get("/capabilities", limit="x"), 400, "invalid-request")


def test_every_final_state_has_a_result(bot: Api, project: Project) -> None:
    for state in FINAL - {"completed"}:
        run = Run(pk=1, state=state.value, code="", cancelled_by="bot")
        assert call_results.failure(run).message
