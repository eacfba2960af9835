"""Calls of HTTP APIs: what is sent, what comes back, and the many ways in which a call fails."""

import json
import logging
import socket
from typing import Any

import pytest

from registry.core.workflows.failures import Code
from registry.lib.circuit_breaker import Outcome
from registry.remote.bindings import http
from registry.remote.bindings.failure import BindingFailed
from tests.effort import PATIENCE
from tests.remote.web import Web
from tests.services.receivers import answering, dripping, endless, hanging

SECRET = "token-that-nobody-may-read"
QUICK = 0.2  # seconds until a server that hangs is left


def call(web: Web, binding: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    options = {"key": "run/step", "seconds": PATIENCE, "secrets": {"TOKEN": SECRET}, "allowed": web.allowed, **more}
    return http.call(binding, inputs or {}, **options)


def failure(web: Web, binding: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> BindingFailed:
    with pytest.raises(BindingFailed) as caught:
        call(web, binding, inputs, **more)
    assert SECRET not in caught.value.message
    return caught.value


def test_the_whole_input_is_sent_as_json_with_secrets_and_the_key(web: Web) -> None:
    url = web.put("/entries", '{"ok": true}')
    binding = {"method": "POST", "url": url, "headers": {"Authorization": "Bearer secret:TOKEN"}, "body": "input"}
    assert call(web, binding, {"key": "é", "none": None}, key="run/review[3]/a#2") == {"ok": True}
    (got,) = web.receiver.got
    assert (got.method, json.loads(got.body)) == ("POST", {"key": "é"})
    assert got.headers["authorization"] == f"Bearer {SECRET}"
    assert got.headers["idempotency-key"] == "run/review[3]/a#2"
    assert got.headers["content-type"] == "application/json"


def test_templates_of_body_query_and_headers_take_whole_references(web: Web) -> None:
    url = web.put("/a", "{}") + "?fixed=1"
    binding = {
        "method": "PUT",
        "url": url,
        "query": {"q": "input.text", "tags": "input.tags", "gone": "input.gone", "page": 2},
        "headers": {"X-Id": "input.user.id", "X-Gone": "input.gone"},
        "body": {"user": "input.user", "list": ["input.tags.1", "input.no", 1], "text": "my input.text"},
    }  # fmt: skip
    call(web, binding, {"text": "a&b=c", "tags": ["x", "y"], "user": {"id": 7}})
    (got,) = web.receiver.got
    assert got.path == "/a?fixed=1&q=a%26b%3Dc&tags=x&tags=y&page=2"
    assert got.headers["x-id"] == "7"
    assert "x-gone" not in got.headers
    assert json.loads(got.body) == {"user": {"id": 7}, "list": ["y", 1], "text": "my input.text"}


def test_fields_in_the_url_are_encoded(web: Web) -> None:
    web.receiver.behave = answering(200, b"{}")
    call(web, {"url": web.url("/users/{id}/x?q={q}")}, {"id": "a/b?c#d@e:f", "q": "1&2=3"})
    assert web.asked == ["/users/a%2Fb%3Fc%23d%40e%3Af/x?q=1%262%3D3"]


@pytest.mark.parametrize(
    "value", ["", ".", "..", "../admin", "a/../../admin", "..\\admin", "a/..", "./a", None, [], {}, "\ud800"]
)
def test_a_value_that_leads_to_another_path_is_refused(web: Web, value: Any) -> None:
    found = failure(web, {"url": web.url("/users/{id}")}, {"id": value})
    assert (found.code, found.retryable, found.maybe_done) == (Code.INPUT, False, False)
    assert web.asked == []


def test_two_values_that_lead_to_another_path_together_are_refused(web: Web) -> None:
    assert failure(web, {"url": web.url("/users/{a}{b}")}, {"a": "..", "b": "/admin"}).code == Code.INPUT
    assert failure(web, {"url": web.url("/users/{a}{b}")}, {"a": ".", "b": "./x"}).code == Code.INPUT
    assert web.asked == []


def test_dots_that_lead_nowhere_are_sent(web: Web) -> None:
    web.receiver.behave = answering(200, b"{}")
    call(web, {"url": web.url("/files/{id}?of={id}")}, {"id": "a/..b/c../v1.2"})
    assert web.asked == ["/files/a%2F..b%2Fc..%2Fv1.2?of=a%2F..b%2Fc..%2Fv1.2"]


@pytest.mark.parametrize(
    "url",
    [
        "http://{host}/", "{url}", "http://127.0.0.1:{port}/", "http://127.0.0.1{path}", "http://a@127.0.0.1/", "ftp://a/",
        "http:///a", "http://a\\@b/", "/a", "", None, 3, "http://127.0.0.1/{", "http://127.0.0.1/a}", "https://[::1/",
    ],
)  # fmt: skip
def test_a_url_that_could_change_its_host_is_refused(web: Web, url: Any) -> None:
    inputs = {"host": "127.0.0.1", "port": 1, "path": "x", "url": "http://127.0.0.1/"}
    assert failure(web, {"url": url}, inputs).code == Code.CAPABILITY


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\x00", "é", "a\x7f", "\u2028"])
def test_a_value_cannot_add_a_header(web: Web, value: str) -> None:
    binding = {"url": web.put("/a", "{}"), "headers": {"X-Name": "input.name"}}
    assert failure(web, binding, {"name": value}).code == Code.INPUT
    assert web.asked == []


@pytest.mark.parametrize(
    "name", ["Host", "content-length", "Transfer-Encoding", "Connection", "a b", "a:", "a\r\nb", ""]
)
def test_headers_of_the_connection_cannot_be_set(web: Web, name: str) -> None:
    assert failure(web, {"url": web.url("/a"), "headers": {name: "x"}}).code == Code.CAPABILITY


def test_a_secret_in_the_input_is_only_text(web: Web) -> None:
    binding = {"url": web.put("/a", "{}"), "headers": {"X-Name": "input.name"}, "method": "POST", "body": "input"}
    call(web, binding, {"name": "secret:TOKEN"})
    (got,) = web.receiver.got
    assert got.headers["x-name"] == "secret:TOKEN"
    assert SECRET not in repr(got)


def test_a_missing_secret_is_named(web: Web) -> None:
    found = failure(web, {"url": web.url("/a"), "headers": {"Authorization": "secret:OTHER"}})
    assert "OTHER" in found.message
    assert "WORKFLOW_SECRETS" in found.message
    assert web.asked == []


def test_a_secret_with_a_line_break_is_refused_without_its_value(web: Web) -> None:
    binding = {"url": web.url("/a"), "headers": {"Authorization": "secret:BROKEN"}}
    assert "hidden" not in failure(web, binding, secrets={"BROKEN": "hidden\r\nX: 1"}).message


@pytest.mark.parametrize("part", ["url", "query", "body"])
def test_a_secret_outside_of_a_header_is_refused(web: Web, part: str) -> None:
    values = {"url": web.url("/a?k=secret:TOKEN"), "query": {"k": "secret:TOKEN"}, "body": {"k": ["secret:TOKEN"]}}
    assert "only be in headers" in failure(web, {"url": web.url("/a"), part: values[part]}).message


STATUSES = [
    (301, False, False, Outcome.SUCCESS), (303, False, False, Outcome.SUCCESS), (400, False, False, Outcome.SUCCESS),
    (401, False, False, Outcome.SUCCESS), (404, False, False, Outcome.SUCCESS), (409, False, False, Outcome.SUCCESS),
    (408, True, False, Outcome.SUCCESS), (425, True, False, Outcome.SUCCESS), (429, True, False, Outcome.SUCCESS),
    (500, True, False, Outcome.FAILURE), (502, True, True, Outcome.FAILURE), (503, True, False, Outcome.FAILURE),
    (504, True, True, Outcome.FAILURE), (599, True, False, Outcome.FAILURE),
]  # fmt: skip


@pytest.mark.parametrize(("status", "retryable", "maybe_done", "outcome"), STATUSES)
def test_a_status_decides_about_a_retry(
    web: Web, status: int, retryable: bool, maybe_done: bool, outcome: Outcome
) -> None:
    found = failure(web, {"url": web.put("/a", f"upstream says {SECRET}", status) + "?q=private"})
    assert (found.retryable, found.maybe_done, found.outcome) == (retryable, maybe_done, outcome)
    assert f"{web.receiver.host} answered with status {status}." in found.message
    assert "private" not in found.message
    assert "upstream" not in found.message


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7), ("0", 0), ("999999999", 3_600), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("-5", None), ("soon", None),
        ("nan", None), ("1e400", None), ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600), ("²", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_the_wish_of_a_server_for_a_pause_is_read(web: Web, value: str, seconds: float | None) -> None:
    web.receiver.behave = answering(503, b"", **{"Retry-After": value.encode().decode("latin-1")})
    assert failure(web, {"url": web.url("/a")}).retry_after == seconds


def test_a_closed_port_is_a_failure_before_the_call(web: Web) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
        found = failure(web, {"url": f"http://{host}/"}, allowed=frozenset([host]))
    assert (found.retryable, found.maybe_done, found.outcome) == (True, False, Outcome.FAILURE)


def test_a_failed_handshake_of_tls_is_a_failure_before_the_call(web: Web) -> None:
    found = failure(web, {"url": f"https://{web.receiver.host}/a"})
    assert (found.retryable, found.maybe_done) == (True, False)


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_slow_server_leaves_the_call_in_doubt(web: Web, behaviour: Any) -> None:
    web.receiver.behave = behaviour(web.receiver)
    found = failure(web, {"url": web.url("/a")}, seconds=QUICK)
    assert (found.code, found.retryable, found.maybe_done) == (Code.TIMEOUT, True, True)


def test_a_broken_connection_leaves_the_call_in_doubt(web: Web) -> None:
    web.receiver.behave = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
    found = failure(web, {"url": web.url("/a")})
    assert (found.code, found.retryable, found.maybe_done) == (Code.CALL, True, True)


def test_a_body_that_ends_too_soon_leaves_the_call_in_doubt(web: Web) -> None:
    web.receiver.behave = answering(200, b'{"ok": 1}', **{"Content-Length": "100"})
    assert failure(web, {"url": web.url("/a")}).maybe_done


def test_no_time_left_is_a_failure_before_the_call(web: Web) -> None:
    found = failure(web, {"url": web.put("/a", "{}")}, seconds=0.0)
    assert (found.code, found.maybe_done, web.asked) == (Code.TIMEOUT, False, [])


BROKEN: dict[str, bytes] = {
    "a web page": b"<!doctype html><p>secret</p>",
    "no JSON": b"hello",
    "half of it": b'{"a": ',
    "a key twice": b'{"a": 1, "a": 2}',
    "a key twice inside": b'{"a": [{"b": 1, "b": 2}]}',
    "not a number": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a number that is too large": b'{"a": 1e999}',
    "too many digits": b'{"a": ' + b"9" * 5_000 + b"}",
    "half a character": b'{"a": "\\ud800"}',
    "NUL": b'{"a": "\\u0000"}',
    "no UTF-8": b'{"a": "\xff"}',
    "deep nesting": b'{"a":' * 100 + b"1" + b"}" * 100,
    "very deep nesting": b"[" * 90_000,
    "too many values": b"[" + b"1," * 100_001 + b"1]",
    "too large": b'"' + b"a" * (1024 * 1024) + b'"',
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_cannot_be_used_is_not_asked_for_again(web: Web, body: bytes) -> None:
    found = failure(web, {"url": web.put("/a", body)})
    assert (found.code, found.retryable, found.maybe_done) == (Code.OUTPUT, False, False)
    assert found.outcome is Outcome.SUCCESS
    assert len(found.message) < 200


def test_an_endless_answer_is_cut(web: Web) -> None:
    web.receiver.behave = endless(web.receiver)
    assert "1,048,576 bytes" in failure(web, {"url": web.url("/a")}).message


def test_a_compressed_answer_is_refused(web: Web) -> None:
    assert "compressed" in failure(web, {"url": web.put("/a", b"\x1f\x8b", **{"Content-Encoding": "gzip"})}).message


@pytest.mark.parametrize(
    ("body", "picks", "expected"),
    [
        ('{"a": 1}', None, {"a": 1}),
        ("[1, 2]", None, {"value": [1, 2]}),
        ("null", None, {"value": None}),
        ("", None, {}),
        ('{"data": {"items": [{"id": 7}]}}', {"id": "data.items.0.id", "no": "data.items.1.id"}, {"id": 7}),
        ("[[1], [2]]", {"second": "value.1.0"}, {"second": 2}),
        ('{"a": "\\\\u0000"}', None, {"a": "\\u0000"}),
    ],
)
def test_outputs_are_picked_from_the_answer(web: Web, body: str, picks: Any, expected: dict[str, Any]) -> None:
    assert call(web, {"url": web.put("/a", body), "outputs": picks}) == expected


@pytest.mark.parametrize("target", ["http://169.254.169.254/", "https://127.0.0.1:1/", "file:///etc/passwd", "/b"])
def test_a_redirect_is_not_followed(web: Web, target: str) -> None:
    web.put("/b", "{}")
    assert "Redirects are not followed" in failure(web, {"url": web.put("/a", status=307, Location=target)}).message
    assert web.asked == ["/a"]


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.1.2.3", "[::1]", "[::ffff:10.0.0.1]"])
def test_an_address_in_a_private_network_needs_the_operator(web: Web, host: str) -> None:
    found = failure(web, {"url": f"https://{host}/a"}, allowed=frozenset())
    assert (found.code, found.retryable, found.maybe_done) == (Code.SAFETY_TARGET, False, False)
    assert "SKILLS_FETCH_ALLOW_HOSTS" in found.message


def test_http_without_tls_needs_the_operator(web: Web) -> None:
    assert "https" in failure(web, {"url": web.url("/a")}, allowed=frozenset()).message
    assert web.asked == []


@pytest.mark.parametrize("answers", [["192.168.0.7"], ["10.0.0.1", "10.0.0.1"]])
def test_a_name_with_a_private_address_is_refused(web: Web, names: dict[str, list[str]], answers: list[str]) -> None:
    names["api.test"] = answers
    found = failure(web, {"url": "https://api.test/a"}, allowed=frozenset())
    assert "no public address" in found.message
    assert not found.maybe_done


def test_no_log_line_contains_a_secret_or_a_query(web: Web, caplog: pytest.LogCaptureFixture) -> None:
    binding = {"url": web.put("/a", "{}", 500) + "?q=private", "headers": {"Authorization": "secret:TOKEN"}}
    with caplog.at_level(logging.DEBUG):
        failure(web, binding)
    assert SECRET not in caplog.text
    assert "private" not in caplog.text


def test_a_long_or_unprintable_key_still_fits_into_a_header(web: Web) -> None:
    web.receiver.behave = answering(200, b"{}")
    for key in ("a" * 5_000, "é\n\r", "x/" * 127 + "y"):
        call(web, {"url": web.url("/a")}, key=key)
    sent = [got.headers["idempotency-key"] for got in web.receiver.got]
    assert all(len(key) <= 255 and key.isascii() and key.isprintable() for key in sent)
    assert len(set(sent)) == 3


@pytest.mark.parametrize(
    "binding",
    [
        {"method": "TRACE"}, {"method": "GET /x HTTP/1.1\r\n"}, {"headers": "x"}, {"headers": ["x"]}, {"query": "a=b"},
        {"outputs": {"a": 1}}, {"outputs": "a"}, {"outputs": {"a": ""}}, {"idempotency_header": "Host"},
        {"idempotency_header": "a\r\nb"},
    ],
)  # fmt: skip
def test_a_binding_that_makes_no_sense_is_refused(web: Web, binding: dict[str, Any]) -> None:
    assert failure(web, {"url": web.put("/a", "{}"), **binding}).code == Code.CAPABILITY


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_an_input_that_json_cannot_hold_is_refused(web: Web, value: Any) -> None:
    assert failure(web, {"url": web.url("/a"), "body": "input", "method": "POST"}, {"a": value}).code == Code.INPUT


def test_a_body_over_the_limit_is_not_sent(web: Web) -> None:
    binding = {"url": web.url("/a"), "body": "input", "method": "POST"}
    assert "At most 4,194,304" in failure(web, binding, {"a": "x" * 5_000_000}).message
    assert web.asked == []
