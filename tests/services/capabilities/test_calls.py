"""Calls of capabilities: checks on both sides, failures a run can work with, the circuit breaker, and no secrets."""

import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.workflows.capability import Capability, Properties
from registry.core.workflows.failures import Code
from registry.core.workflows.values import Field
from registry.lib.circuit_breaker import FAILURES, CircuitBreaker
from registry.remote.bindings import http
from registry.services.capabilities import calls
from registry.services.capabilities.calls import CallResult
from tests.effort import PATIENCE
from tests.services.receivers import Receiver, answering, hanging, receiving

SECRET = "token-that-nobody-may-read"
KEY = "key-of-the-model"
CAREFUL, REPEATABLE = Properties(), Properties(idempotent=True)
STDIO_SERVER = str(Path(__file__).parents[2] / "remote" / "bindings" / "stdio_server.py")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of circuit breakers that no other test has used."""
    clock = Clock()
    monkeypatch.setattr(calls, "breakers", CircuitBreaker(clock))
    return clock


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        settings.WORKFLOW_SECRETS = {"LEDGER_TOKEN": SECRET}
        settings.WORKFLOW_LLM_URL, settings.WORKFLOW_LLM_MODEL = receiver.url("/chat"), "small"
        settings.WORKFLOW_LLM_KEY = KEY
        receiver.behave = answering(200, b'{"ok": true}')
        yield receiver


def capability(binding: dict[str, Any], properties: Properties = CAREFUL, **more: Any) -> Capability:
    inputs = {
        "key": Field("key", "string", required=True),
        "count": Field("count", "integer", default=1, has_default=True),
    }
    outputs = {"ok": Field("ok", "boolean", required=True)}
    fields = {"inputs": inputs, "outputs": outputs, "properties": properties, **more}
    return Capability("ledger.entry.write", "1.0.0", "Writes one line.", binding=binding, **fields)


def ledger(receiver: Receiver, properties: Properties = CAREFUL, **more: Any) -> Capability:
    headers = {"Authorization": "Bearer secret:LEDGER_TOKEN"}
    binding = {"kind": "http", "method": "POST", "url": receiver.url("/entries"), "headers": headers, "body": "input"}
    return capability({**binding, **more}, properties)


def call(called: Capability, inputs: Any = None, seconds: float = PATIENCE) -> CallResult:
    return calls.call(called, {"key": "a"} if inputs is None else inputs, key="run/write", seconds=seconds)


def failed(called: Capability, code: Code, inputs: Any = None, seconds: float = PATIENCE) -> CallResult:
    result = call(called, inputs, seconds)
    assert result.output is None
    assert result.failure
    assert result.failure.code == code, result.failure
    assert SECRET not in repr(result)
    return result


def test_the_contract_of_operators_files_works(receiver: Receiver) -> None:
    assert call(ledger(receiver)) == CallResult({"ok": True})
    (got,) = receiver.got
    assert json.loads(got.body) == {"key": "a", "count": 1}
    assert got.headers["authorization"] == f"Bearer {SECRET}"
    assert got.headers["idempotency-key"] == "run/write"


@pytest.mark.parametrize(
    "inputs", [{}, {"key": None}, {"key": 1}, {"key": "a", "more": 1}, {"key": "a", "count": "x"}, []]
)
def test_wrong_inputs_are_not_sent(receiver: Receiver, inputs: Any) -> None:
    result = failed(ledger(receiver), Code.INPUT, inputs)
    assert "The input of ledger.entry.write" in str(result.failure)
    assert (result.retryable, result.in_doubt, receiver.got) == (False, False, [])


@pytest.mark.parametrize("body", [b"{}", b'{"ok": "yes"}', b'{"ok": null}', b"[]", b"<p>", b"", b'{"ok": NaN}'])
def test_wrong_outputs_fail_and_the_call_is_not_repeated(receiver: Receiver, body: bytes) -> None:
    receiver.behave = answering(200, body)
    result = failed(ledger(receiver), Code.OUTPUT)
    assert (result.retryable, result.in_doubt) == (False, False)


def test_outputs_that_are_not_declared_are_kept(receiver: Receiver) -> None:
    receiver.behave = answering(200, b'{"ok": true, "id": [1]}')
    assert call(ledger(receiver)).output == {"ok": True, "id": [1]}


@pytest.mark.parametrize(("properties", "in_doubt"), [
    (CAREFUL, True), (REPEATABLE, False), (Properties(side_effects=False), False),
])  # fmt: skip
def test_a_call_that_was_cut_off_is_in_doubt_unless_it_may_repeat(
    receiver: Receiver, properties: Properties, in_doubt: bool
) -> None:
    receiver.behave = hanging(receiver)
    result = failed(ledger(receiver, properties), Code.TIMEOUT, seconds=0.1)
    assert (result.retryable, result.in_doubt) == (True, in_doubt)
    receiver.behave = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
    result = failed(ledger(receiver, properties), Code.CALL)
    assert (result.retryable, result.in_doubt) == (True, in_doubt)


def test_a_refused_connection_is_not_in_doubt(settings: Any, receiver: Receiver) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
        settings.SKILLS_FETCH_ALLOW_HOSTS = [host]
        result = failed(ledger(receiver, url=f"http://{host}/"), Code.CALL)
    assert (result.retryable, result.in_doubt) == (True, False)


def test_the_binding_may_have_a_shorter_time_limit(receiver: Receiver) -> None:
    receiver.behave = hanging(receiver)
    failed(ledger(receiver, timeout_seconds=0.1), Code.TIMEOUT)


def test_the_wish_for_a_pause_is_passed_on(receiver: Receiver) -> None:
    receiver.behave = answering(429, **{"Retry-After": "7"})
    result = failed(ledger(receiver), Code.CALL)
    assert (result.retryable, result.in_doubt, result.retry_after) == (True, False, 7.0)


def test_a_host_that_the_operator_did_not_allow_is_refused(settings: Any, receiver: Receiver) -> None:
    settings.SKILLS_FETCH_ALLOW_HOSTS = []
    failed(ledger(receiver, url="https://127.0.0.1/a"), Code.SAFETY_TARGET)
    assert receiver.got == []


def test_a_secret_that_is_not_listed_is_refused(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "the-key-of-the-site")
    result = failed(ledger(receiver, headers={"X": "secret:SECRET_KEY"}), Code.CAPABILITY)
    assert "SECRET_KEY" in str(result.failure)
    assert "the-key-of-the-site" not in str(result.failure)
    assert receiver.got == []


def test_a_secret_that_the_server_repeats_does_not_become_an_output(receiver: Receiver) -> None:
    body = {"ok": True, "echo": [f"Bearer {SECRET}", {f"x{SECRET}": KEY}]}
    receiver.behave = answering(200, json.dumps(body).encode())
    result = call(ledger(receiver))
    assert result.output
    assert result.output["echo"] == ["Bearer secret:LEDGER_TOKEN", {"xsecret:LEDGER_TOKEN": "secret:WORKFLOW_LLM_KEY"}]


def test_after_five_failures_the_service_is_left_alone_and_then_probed(receiver: Receiver, clock: Clock) -> None:
    receiver.behave = answering(503)
    for _ in range(FAILURES):
        failed(ledger(receiver), Code.CALL)
    clock.now += 10
    result = failed(ledger(receiver), Code.UNAVAILABLE)
    assert (result.retryable, result.in_doubt, result.retry_after) == (True, False, 20.0)
    assert receiver.host in str(result.failure)
    assert len(receiver.got) == FAILURES
    receiver.behave = answering(200, b'{"ok": true}')
    clock.now += 20
    assert call(ledger(receiver)).output == {"ok": True}
    assert call(ledger(receiver)).output == {"ok": True}


def test_failures_of_a_capability_of_owners_do_not_keep_others_from_the_service(receiver: Receiver) -> None:
    shared = ledger(receiver)
    of_owners = replace(shared, project=7)
    receiver.behave = answering(503)
    for _ in range(FAILURES):
        failed(of_owners, Code.CALL)
    failed(of_owners, Code.UNAVAILABLE)
    receiver.behave = answering(200, b'{"ok": true}')
    assert call(shared).output == {"ok": True}
    assert call(replace(shared, project=8)).output == {"ok": True}


@pytest.mark.parametrize("status", [400, 404, 429])
def test_a_service_that_answers_is_not_left_alone(receiver: Receiver, status: int) -> None:
    receiver.behave = answering(status)
    for _ in range(2 * FAILURES):
        failed(ledger(receiver), Code.CALL)


def test_failures_on_our_side_do_not_open_the_breaker(receiver: Receiver) -> None:
    for _ in range(2 * FAILURES):
        failed(ledger(receiver, headers={"X": "secret:GONE"}), Code.CAPABILITY)
    assert call(ledger(receiver)).output == {"ok": True}


def test_the_model_answers(receiver: Receiver) -> None:
    choice = {"message": {"content": f'{{"ok": true, "said": "{KEY}"}}'}}
    receiver.behave = answering(200, json.dumps({"choices": [choice]}).encode())
    asked = capability({"kind": "llm", "prompt": "Is {{key}} ok?", "json": True})
    assert call(asked).output == {"ok": True, "said": "secret:WORKFLOW_LLM_KEY"}


def test_without_a_model_the_call_says_what_to_set(settings: Any) -> None:
    settings.WORKFLOW_LLM_URL = ""
    assert "WORKFLOW_LLM_URL" in str(failed(capability({"kind": "llm", "prompt": "Hi"}), Code.CAPABILITY).failure)


def test_a_tool_of_an_mcp_server_answers(settings: Any) -> None:
    settings.WORKFLOW_SECRETS = {"LEDGER_TOKEN": SECRET}
    binding = {"kind": "mcp", "command": sys.executable, "args": [STDIO_SERVER, "echo"], "tool": "do"}
    called = capability({**binding, "env": {"T": "secret:LEDGER_TOKEN"}}, outputs={})
    output = call(called).output
    assert output
    assert output["arguments"] == {"key": "a", "count": 1}
    assert output["environment"]["T"] == "secret:LEDGER_TOKEN"


def test_a_skill_is_not_called_here() -> None:
    failed(capability({"kind": "skill", "name": "greeting"}), Code.CAPABILITY)


def built_in(name: str, inputs: dict[str, Field], outputs: dict[str, Field]) -> Capability:
    return capability({"kind": "builtin", "function": name}, REPEATABLE, inputs=inputs, outputs=outputs)


def test_a_built_in_runs_in_the_worker() -> None:
    inputs = {"template": Field("template", "string"), "variables": Field("variables", "object")}
    template = built_in("text.template", inputs, {"text": Field("text", "string", required=True)})
    given = {"template": "Hello {{name}}", "variables": {"name": "Ada"}}
    assert call(template, given).output == {"text": "Hello Ada"}


def test_a_built_in_may_fail_and_an_unknown_one_is_refused() -> None:
    message = {"message": Field("message", "string")}
    result = failed(built_in("control.fail", message, {}), Code.CALL, {"message": "Enough."})
    assert (result.retryable, result.in_doubt) == (True, False)
    failed(built_in("no.such.thing", {}, {}), Code.CAPABILITY, {})


def test_a_sleep_ends_at_the_time_limit() -> None:
    seconds = {"seconds": Field("seconds", "number")}
    failed(built_in("control.sleep", seconds, {}), Code.TIMEOUT, {"seconds": 50}, seconds=0.01)


def test_an_unexpected_error_is_logged_with_its_key_and_without_secrets(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(*_: Any, **more: Any) -> None:
        raise RuntimeError(f"boom {more['secrets']}")

    monkeypatch.setattr(http, "call", explode)
    result = failed(ledger(receiver), Code.CALL)
    assert (result.retryable, result.in_doubt) == (False, True)
    assert "boom" not in str(result.failure)
    assert "run/write" in caplog.text
    assert "boom" in caplog.text
    assert SECRET not in caplog.text


def test_no_log_line_contains_a_secret(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for status in (200, 302, 401, 500):
            receiver.behave = answering(status, f'{{"ok": true, "echo": "{SECRET}"}}'.encode())
            call(ledger(receiver))
    assert SECRET not in caplog.text
    assert os.environ.get("LEDGER_TOKEN") is None
