"""Tools of MCP servers over HTTP: the handshake, the stateless way, streams, and servers that misbehave."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows.failures import Code
from registry.protocols.mcp import revisions
from registry.remote.bindings import mcp, mcp_messages
from registry.remote.bindings.event_stream import EventStream
from registry.remote.bindings.failure import BindingFailed
from tests.effort import PATIENCE
from tests.remote.bindings.mcp_server import McpServer
from tests.services.receivers import answering, hanging, receiving

SECRET = "token-that-nobody-may-read"


@pytest.fixture
def server() -> Iterator[McpServer]:
    with receiving() as receiver:
        yield McpServer(receiver)


def call(server: McpServer, inputs: dict[str, Any] | None = None, *, seconds: float = PATIENCE, **more: Any) -> Any:
    binding = {"url": server.url, "tool": "do", "headers": {"Authorization": "Bearer secret:TOKEN"}, **more}
    allowed = frozenset([server.receiver.host])
    return mcp.call(binding, inputs or {}, key="run/a", seconds=seconds, secrets={"TOKEN": SECRET}, allowed=allowed)


def failure(server: McpServer, **more: Any) -> BindingFailed:
    with pytest.raises(BindingFailed) as caught:
        call(server, **more)
    assert SECRET not in caught.value.message
    assert "upstream" not in caught.value.message
    return caught.value


def test_the_site_and_this_client_know_the_same_revisions() -> None:
    assert revisions.MODERN == mcp_messages.STATELESS
    assert mcp_messages.HANDSHAKE[: len(revisions.LEGACY)] == revisions.LEGACY


def test_a_tool_is_called_after_a_handshake_in_its_session(server: McpServer) -> None:
    found = call(server, {"a": 1, "none": None})
    assert found == {"arguments": {"a": 1}, "meta": {"skillsite/idempotencyKey": "run/a"}}
    assert server.methods == ["initialize", "notifications/initialized", "tools/call", "DELETE"]
    first, *others = server.receiver.got
    assert {got.headers["authorization"] for got in server.receiver.got} == {f"Bearer {SECRET}"}
    assert "mcp-session-id" not in first.headers
    assert {got.headers["mcp-session-id"] for got in others} == {"session-1"}
    assert {got.headers["mcp-protocol-version"] for got in others} == {"2025-11-25"}


def test_a_server_without_sessions_gets_no_end_of_one(server: McpServer) -> None:
    server.session = ""
    call(server)
    assert server.methods[-1] == "tools/call"


@pytest.mark.parametrize("status", [200, 400, 404, 405])
def test_a_server_without_a_handshake_is_asked_in_the_stateless_way(server: McpServer, status: int) -> None:
    server.handshake, server.handshake_status = False, status
    meta = call(server, tool="töl")["meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["skillsite/idempotencyKey"] == "run/a"
    headers = server.receiver.got[-1].headers
    assert (headers["mcp-protocol-version"], headers["mcp-method"]) == ("2026-07-28", "tools/call")
    assert headers["mcp-name"] == "=?base64?dMO2bA==?="


def as_events(body: bytes) -> bytes:
    noise = b': hello\r\nevent: message\r\ndata: {"jsonrpc": "2.0", "method": "notifications/progress"}\r\n\r\n'
    return noise + b"id: 2\ndata: " + body + b"\n\n"


def test_a_stream_is_left_as_soon_as_it_has_the_answer(server: McpServer) -> None:
    server.events = as_events
    server.after = lambda handler: server.receiver.released.wait() and None
    assert call(server, {"a": 1})["arguments"] == {"a": 1}


def test_a_stream_may_end_without_an_empty_line(server: McpServer) -> None:
    server.events = lambda body: as_events(body).rstrip()
    assert call(server, {"a": 1})["arguments"] == {"a": 1}


def test_a_stream_that_ends_before_the_answer_leaves_the_call_in_doubt(server: McpServer) -> None:
    server.events = lambda body: b"data: {}\n\n"
    found = failure(server)
    assert (found.retryable, found.maybe_done) == (True, True)


def test_a_stream_without_an_end_is_cut(server: McpServer) -> None:
    server.events = lambda body: b": nothing\n\n" * 200_000
    found = failure(server)
    assert "1,048,576 bytes" in found.message
    assert (found.retryable, found.maybe_done) == (False, True)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "upstream"}]}, Code.CALL),
        ({"resultType": "input_required"}, Code.OUTPUT),
    ],
)
def test_a_tool_that_fails(server: McpServer, result: dict[str, Any], code: Code) -> None:
    server.tool = lambda params: result
    found = failure(server)
    assert (found.code, found.retryable, found.maybe_done) == (code, False, False)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]},
            {"text": "a\nb"},
        ),
        ({"content": [{"type": "text", "text": '{"a": 1}'}]}, {"a": 1}),
        ({"content": [{"type": "text"}, 3, None]}, {"text": ""}),
        ({"content": "text"}, {"text": ""}),
        ({}, {"text": ""}),
        ({"structuredContent": [1]}, {"value": [1]}),
    ],
)
def test_results_of_other_shapes_become_outputs(server: McpServer, result: Any, expected: dict[str, Any]) -> None:
    server.tool = lambda params: result
    assert call(server) == expected


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_server_that_refuses_the_handshake_has_done_nothing(server: McpServer, status: int) -> None:
    server.handshake_status = status
    assert not failure(server).maybe_done
    assert server.methods == ["initialize"]


def test_a_server_that_hangs_before_the_call_has_done_nothing(server: McpServer) -> None:
    server.receiver.behave = hanging(server.receiver)
    found = failure(server, seconds=0.2)
    assert (found.code, found.retryable, found.maybe_done) == (Code.TIMEOUT, True, False)


def test_a_server_of_an_unknown_revision_is_not_called(server: McpServer) -> None:
    server.version = "2099-01-01"
    assert "revision" in failure(server).message
    assert server.methods == ["initialize"]


@pytest.mark.parametrize("session", ["é", "a" * 2_000])
def test_an_invalid_session_is_refused(server: McpServer, session: str) -> None:
    server.session = session
    assert "session" in failure(server).message


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"id": 1}',
        b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 1}',
        b"[",
    ],
)
def test_an_answer_that_is_no_message_is_refused(server: McpServer, body: bytes) -> None:
    server.receiver.behave = answering(200, body, **{"Content-Type": "application/json"})
    assert failure(server).code == Code.OUTPUT


@pytest.mark.parametrize("code", [-32603, 10**30, "text", None])
def test_an_error_of_the_protocol_is_named_by_its_number(server: McpServer, code: Any) -> None:
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": %b, "message": "upstream"}}'
        % repr(code or 0).replace("'", '"').encode()
    )
    server.receiver.behave = answering(200, body, **{"Content-Type": "application/json"})
    found = failure(server)
    assert (found.code, found.retryable, found.maybe_done) == (Code.CALL, False, False)
    assert len(found.message) < 200


@pytest.mark.parametrize("url", ["http://{host}/mcp", "http://127.0.0.1/{path}", "", None])
def test_the_address_of_a_server_has_no_fields(server: McpServer, url: Any) -> None:
    assert failure(server, url=url).code in (Code.CAPABILITY, Code.INPUT)


def test_a_server_in_a_private_network_needs_the_operator(server: McpServer) -> None:
    assert failure(server, url="https://10.0.0.1/mcp").code == Code.SAFETY_TARGET


def test_nothing_secret_is_logged(server: McpServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        call(server)
    assert SECRET not in caplog.text


@given(st.lists(st.integers(1, 30), max_size=40), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_a_stream_is_read_the_same_however_it_is_divided(sizes: list[int], newline: bytes) -> None:
    response = b'{"jsonrpc": "2.0", "id": 2, "result": {}}'
    whole = as_events(response).replace(b"\r\n", b"\n").replace(b"\n", newline)
    stream, rest = EventStream(2), whole
    for size in sizes:
        stream.feed(rest[:size])
        rest = rest[size:]
    stream.feed(rest)
    stream.finish()
    assert stream.response == response
