"""MCP messages: invalid ones get the errors of the protocol, and nothing leaks between requests."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.protocols.mcp import endpoint, messages
from tests.protocols.mcp_client import LEGACY, META, MODERN, Mcp

ONE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def error(response: Any) -> tuple[int, int]:
    assert response["Content-Type"] == "application/json"
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b" ", -32700),
        (b"{", -32700),
        (b"\xff\xfe{}", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":NaN}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"9" * 5_000 + b"}}", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (json.dumps([ONE, ONE]).encode(), -32600),
        (b"3", -32600),
        (b'"text"', -32600),
        (b"null", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":3}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":""}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', -32602),
    ],
)
def test_an_invalid_message_is_refused(caller: Mcp, body: bytes, code: int) -> None:
    assert error(caller.post(body)) == (400, code)


def test_an_error_has_the_id_of_the_request_if_it_is_valid(caller: Mcp) -> None:
    assert caller.post({"jsonrpc": "2.0", "id": "x", "method": ""}).json()["id"] == "x"
    assert "id" not in caller.post(b"{").json()


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_accepted(caller: Mcp, content_type: str) -> None:
    assert error(caller.post(b"{}", content_type=content_type)) == (415, -32600)


def test_a_charset_in_the_content_type_is_accepted(caller: Mcp) -> None:
    assert caller.post(ONE, content_type="application/json; charset=utf-8").status_code == 200


def test_a_body_over_the_limit_is_refused_before_it_is_read(caller: Mcp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BODY_BYTES", 50)
    response = caller.post({**ONE, "params": {"x": "y" * 100}})
    assert error(response) == (413, -32600)
    assert "50 are allowed" in response.json()["error"]["message"]


def test_a_chunked_body_is_refused(caller: Mcp) -> None:
    assert error(caller.post(json.dumps(ONE).encode(), {"Transfer-Encoding": "chunked"})) == (411, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "PATCH"])
def test_streams_and_sessions_are_not_supported(caller: Mcp, method: str) -> None:
    response = caller.client.generic(method, "/mcp", headers=caller.headers)
    assert (response.status_code, response["Allow"]) == (405, "POST")


@pytest.mark.parametrize("modern", [True, False])
def test_an_unknown_method_is_named_in_the_error(caller: Mcp, modern: bool) -> None:
    if modern:
        assert error(caller.request("skills/destroy")) == (404, -32601)
    else:
        body = {**ONE, "method": "skills/destroy"}
        assert error(caller.post(body, {"MCP-Protocol-Version": LEGACY})) == (200, -32601)


def test_a_notification_is_accepted_without_a_result(caller: Mcp) -> None:
    response = caller.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


def test_an_internal_error_reveals_no_details(
    caller: Mcp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> object:
        raise RuntimeError("inner secret")

    monkeypatch.setitem(endpoint._METHODS, "ping", endpoint._Method(crash, cacheable=endpoint._never))  # type: ignore[arg-type]
    response = caller.post(ONE)
    assert error(response) == (500, -32603)
    assert b"inner secret" not in response.content
    assert "ping" in caplog.text


# -- The two eras ----------------------------------------------------------------------------------------------


def modern(method: str = "server/discover", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


HEADERS = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}


def test_discovery_names_revisions_and_capabilities(caller: Mcp) -> None:
    result = caller.ask("server/discover")
    assert result["supportedVersions"] == [MODERN, LEGACY, "2025-06-18"]
    assert result["capabilities"]["extensions"] == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    assert result["capabilities"]["resources"] == {}
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "skillsite"


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Method": "server/discover"},
        {**HEADERS, "MCP-Protocol-Version": LEGACY},
        {"MCP-Protocol-Version": MODERN},
        {**HEADERS, "Mcp-Method": "tools/list"},
        {**HEADERS, "Mcp-Method": "SERVER/DISCOVER"},
    ],
)
def test_headers_that_do_not_match_the_body_are_refused(caller: Mcp, headers: dict[str, str]) -> None:
    assert error(caller.post(modern(), headers)) == (400, -32020)


@pytest.mark.parametrize("name", [None, "skill://other/SKILL.md", "=?base64?%%%?=", "=?base64?//4=?="])
def test_the_name_in_the_header_must_match_the_body(caller: Mcp, name: str | None) -> None:
    headers = {**HEADERS, "Mcp-Method": "resources/read", **({"Mcp-Name": name} if name else {})}
    body = modern("resources/read", uri="skill://offers/SKILL.md")
    assert error(caller.post(body, headers)) == (400, -32020)


def test_a_name_outside_ascii_is_sent_encoded(caller: Mcp, offers: Any) -> None:
    uri = "skill://offers/assets/Ü ber 100%.txt"
    assert caller.ask("resources/read", uri=uri)["contents"][0]["text"] == "ü\n"


def test_an_unsupported_revision_is_refused_with_the_supported_ones(caller: Mcp) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    response = caller.post(modern() | {"params": {"_meta": meta}}, {**HEADERS, "MCP-Protocol-Version": "1900-01-01"})
    assert error(response) == (400, -32022)
    assert response.json()["error"]["data"] == {
        "supported": [MODERN, LEGACY, "2025-06-18"],
        "requested": "1900-01-01",
    }
    assert response.json()["id"] == 1


@pytest.mark.parametrize("missing", list(META))
def test_a_request_without_required_metadata_is_refused(caller: Mcp, missing: str) -> None:
    meta = {key: value for key, value in META.items() if key != missing}
    assert error(caller.post(modern() | {"params": {"_meta": meta}}, HEADERS)) == (400, -32602)


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_the_stateless_revision_has_no_handshake(caller: Mcp, method: str) -> None:
    assert error(caller.request(method)) == (404, -32601)


@pytest.mark.parametrize(
    ("asked", "settled"),
    [
        (LEGACY, LEGACY),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", LEGACY),
        (MODERN, LEGACY),
        (None, LEGACY),
        (3, LEGACY),
    ],
)
def test_a_handshake_negotiates_a_revision_with_a_handshake(caller: Mcp, asked: Any, settled: str) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = caller.post(body)
    result = response.json()["result"]
    assert result["protocolVersion"] == settled
    assert result["serverInfo"]["name"] == "skillsite"
    assert "Mcp-Session-Id" not in response


def test_methods_need_no_more_headers_after_a_handshake(caller: Mcp, offers: Any) -> None:
    assert [skill["uri"] for skill in caller.ask_old("skills/list")["skills"]] == ["skill://offers/SKILL.md"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert caller.post(body).json()["result"]["tools"]


def test_a_handshake_with_an_unknown_revision_in_the_header_is_refused(caller: Mcp) -> None:
    assert error(caller.post({**ONE, "method": "tools/list"}, {"MCP-Protocol-Version": "2031-01-01"})) == (400, -32022)


# -- Who may ask ---------------------------------------------------------------------------------------------------


def test_a_request_without_a_token_is_refused(caller: Mcp) -> None:
    caller.headers = {}
    response = caller.post(ONE)
    assert error(response) == (401, -32600)
    metadata = "http://testserver/.well-known/oauth-protected-resource/mcp"
    assert response["WWW-Authenticate"] == f'Bearer realm="skillsite", resource_metadata="{metadata}"'


@pytest.mark.parametrize("given", ["Bearer sks_wrong", "Bearer", "Basic dTpw", "bearer  ", "Bearer sks_\u00ff"])
def test_an_unknown_token_is_refused(caller: Mcp, given: str) -> None:
    caller.headers = {"Authorization": given}
    response = caller.post(ONE)
    assert error(response) == (401, -32600)
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


def test_a_token_without_the_scope_read_is_refused(mcp: Callable[..., Mcp]) -> None:
    response = mcp("propose").post(ONE)
    assert error(response) == (403, -32600)
    assert 'error="insufficient_scope", scope="read"' in response["WWW-Authenticate"]


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://testserver.evil", "https://testserver", "x", "http://[", "http://[x]"],
)
@pytest.mark.parametrize("public_url", ["http://localhost:8000", "", "skills.example.org"])
def test_requests_from_other_origins_are_refused(caller: Mcp, settings: Any, origin: str, public_url: str) -> None:
    settings.PUBLIC_URL = public_url
    assert error(caller.post(ONE, {"Origin": origin})) == (403, -32600)


@pytest.mark.parametrize("origin", ["http://testserver", "HTTP://TestServer", "https://tools.example"])
def test_our_own_and_configured_origins_are_allowed(caller: Mcp, settings: Any, origin: str) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://tools.example"]
    assert caller.post(ONE, {"Origin": origin}).status_code == 200


def test_the_rate_limit_applies(caller: Mcp, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 1
    caller.post(ONE)
    response = caller.post(ONE)
    assert error(response) == (429, -32600)
    assert int(response["Retry-After"]) > 0


def test_responses_are_not_cached_by_others(caller: Mcp) -> None:
    response = caller.post(ONE)
    assert response["Cache-Control"] == "private, no-store"
    assert response["Referrer-Policy"] == "no-referrer"


def test_a_message_with_too_many_values_is_refused_before_it_is_parsed() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[' + b"{}," * 60_000 + b"1]}}"
    with pytest.raises(messages.Refused, match="more than 100,000 values"):
        messages.parse(body)
