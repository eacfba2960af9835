"""Calls of a language model: prompts from templates, and answers that may be anything."""

import json
import logging
from typing import Any

import pytest

from registry.core.workflows.failures import Code
from registry.remote.bindings import llm
from registry.remote.bindings.failure import BindingFailed
from registry.remote.chat import ChatEndpoint
from tests.effort import PATIENCE
from tests.remote.web import Web
from tests.services.receivers import Behaviour, answering, endless, hanging

KEY = "key-that-nobody-may-read"


def endpoint(web: Web, **more: str) -> ChatEndpoint:
    return ChatEndpoint(**{"url": web.url("/v1/chat/completions"), "model": "small", "key": KEY, **more})


def completing(content: Any, finish: str = "stop") -> Behaviour:
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return answering(200, json.dumps({"choices": [choice]}).encode())


def call(web: Web, binding: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return llm.call(binding, inputs or {}, **{"endpoint": endpoint(web), "seconds": PATIENCE, **more})


def failure(web: Web, binding: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> BindingFailed:
    with pytest.raises(BindingFailed) as caught:
        call(web, binding, inputs, **more)
    assert KEY not in caught.value.message
    return caught.value


def test_the_prompt_is_filled_and_the_answer_is_text(web: Web) -> None:
    web.receiver.behave = completing("Short.")
    binding = {
        "system": "You are {{role}}.",
        "prompt": "{{ text }} {{user.name}} {{tags}} {{missing}}|{x}",
        "max_tokens": 9,
    }
    inputs = {"role": "a cat", "text": "Say {{role}}", "user": {"name": "Ada"}, "tags": ["a", 1]}
    assert call(web, binding, inputs) == {"text": "Short."}
    (got,) = web.receiver.got
    sent = json.loads(got.body)
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("small", 9, 0)
    assert sent["messages"] == [
        {"role": "system", "content": "You are a cat."},
        {"role": "user", "content": 'Say {{role}} Ada ["a",1] |{x}'},
    ]


def test_a_text_may_have_another_name(web: Web) -> None:
    web.receiver.behave = completing("Yes.")
    assert call(web, {"prompt": "Hi", "outputs": {"answer": "text"}}) == {"answer": "Yes."}


def test_a_binding_may_name_its_model(web: Web) -> None:
    web.receiver.behave = completing("Yes.")
    call(web, {"prompt": "Hi", "model": "large"}, endpoint=endpoint(web, model=""))
    assert json.loads(web.receiver.got[0].body)["model"] == "large"


@pytest.mark.parametrize("text", ['{"a": 1}', '```json\n{"a": 1}\n```', ' ```\n{"a": 1}\n``` ', '\n{\n"a": 1}'])
def test_a_json_answer_may_be_fenced(web: Web, text: str) -> None:
    web.receiver.behave = completing(text)
    assert call(web, {"prompt": "Hi", "json": True}) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["[1]", "null", "Sure! Here it is.", '{"a": 1} and more', '{"a": 1, "a": 2}', '{"a": NaN}', "", "[" * 50_000],
)
def test_an_answer_that_is_no_json_object_may_be_asked_for_again(web: Web, text: str) -> None:
    web.receiver.behave = completing(text)
    found = failure(web, {"prompt": "Hi", "json": True})
    assert (found.code, found.retryable, found.maybe_done) == (Code.OUTPUT, True, False)
    assert "Sure" not in found.message


@pytest.mark.parametrize("wanted", [True, False])
def test_an_answer_that_was_cut_is_refused(web: Web, wanted: bool) -> None:
    web.receiver.behave = completing('{"a": 1', finish="length")
    assert "max_tokens" in failure(web, {"prompt": "Hi", "json": wanted}).message


@pytest.mark.parametrize("missing", ["url", "model", "key"])
def test_without_an_endpoint_the_call_fails_with_the_fix(web: Web, missing: str) -> None:
    found = failure(web, {"prompt": "Hi"}, endpoint=endpoint(web, **{missing: ""}))
    assert (found.code, found.retryable) == (Code.CAPABILITY, False)
    assert "WORKFLOW_LLM_KEY" in found.message
    assert web.asked == []


BROKEN: dict[str, Behaviour] = {
    "a web page": answering(200, b"<html>"),
    "no choices": answering(200, b'{"choices": []}'),
    "another shape": answering(200, b'{"choices": [1]}'),
    "no text": completing(None),
    "too much": answering(200, b" " * 1_100_000),
    "too many values": answering(200, b"[" + b"1," * 200_000 + b"1]"),
    "deep nesting": answering(200, b"[" * 90_000),
}


@pytest.mark.parametrize("behave", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_is_no_completion_is_refused(web: Web, behave: Behaviour) -> None:
    web.receiver.behave = behave
    assert not failure(web, {"prompt": "Hi"}).retryable


@pytest.mark.parametrize(("status", "retryable"), [(302, False), (400, False), (401, False), (429, True), (503, True)])
def test_a_status_decides_about_a_retry(web: Web, status: int, retryable: bool) -> None:
    web.receiver.behave = answering(status, f"the key {KEY} is wrong".encode())
    assert failure(web, {"prompt": "Hi"}).retryable == retryable


@pytest.mark.parametrize("url", ["not a url", "https://[", "ftp://host/", "https://exa mple/", "https://:1/"])
def test_an_address_that_is_none_is_a_failure(web: Web, url: str) -> None:
    assert not failure(web, {"prompt": "Hi"}, endpoint=endpoint(web, url=url)).maybe_done


def test_a_model_that_hangs_is_left(web: Web) -> None:
    web.receiver.behave = hanging(web.receiver)
    found = failure(web, {"prompt": "Hi"}, seconds=0.1)
    assert (found.code, found.retryable) == (Code.TIMEOUT, True)


def test_an_endless_answer_is_cut(web: Web) -> None:
    web.receiver.behave = endless(web.receiver)
    assert not failure(web, {"prompt": "Hi"}).retryable


@pytest.mark.parametrize(
    "more",
    [
        {"prompt": ""}, {"prompt": 3}, {"max_tokens": 0}, {"max_tokens": 10**9}, {"max_tokens": True},
        {"temperature": 3}, {"temperature": "hot"}, {"temperature": float("nan")},
    ],
)  # fmt: skip
def test_a_binding_that_makes_no_sense_is_refused(web: Web, more: dict[str, Any]) -> None:
    assert failure(web, {"prompt": "Hi", **more}).code == Code.CAPABILITY
    assert web.asked == []


@pytest.mark.parametrize("prompt", ["{{text}}", "{{text}}" * 10_000])
def test_a_prompt_over_the_limit_is_not_sent(web: Web, prompt: str) -> None:
    assert failure(web, {"prompt": prompt}, {"text": "x" * 400_001}).code == Code.INPUT
    assert web.asked == []


def test_the_key_is_never_logged(web: Web, caplog: pytest.LogCaptureFixture) -> None:
    web.receiver.behave = answering(500)
    with caplog.at_level(logging.DEBUG):
        failure(web, {"prompt": "Hi"})
    assert KEY not in caplog.text
