"""What is no message is refused with the error that the protocol names, and nothing is remembered or leaked."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.protocols.mcp import endpoint
from tests.protocols.conftest import LEGACY, META, MODERN, Mcp

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
def test_what_is_no_message_is_refused(caller: Mcp, body: bytes, code: int) -> None:
    assert error(caller.post(body)) == (400, code)


def test_the_id_comes_back_where_it_could_be_read(caller: Mcp) -> None:
    assert caller.post({"jsonrpc": "2.0", "id": "x", "method": ""}).json()["id"] == "x"
    assert "id" not in caller.post(b"{").json()


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_read(caller: Mcp, content_type: str) -> None:
    assert error(caller.post(b"{}", content_type=content_type)) == (415, -32600)


def test_a_charset_does_no_harm(caller: Mcp) -> None:
    assert caller.post(ONE, content_type="application/json; charset=utf-8").status_code == 200


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(caller: Mcp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BODY_BYTES", 50)
    response = caller.post({**ONE, "params": {"x": "y" * 100}})
    assert error(response) == (413, -32600)
    assert "50 are allowed" in response.json()["error"]["message"]


def test_a_body_in_chunks_is_refused_rather_than_taken_for_an_empty_one(caller: Mcp) -> None:
    assert error(caller.post(json.dumps(ONE).encode(), {"Transfer-Encoding": "chunked"})) == (411, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "PATCH"])
def test_there_is_no_stream_and_no_session(caller: Mcp, method: str) -> None:
    response = caller.client.generic(method, "/mcp", headers=caller.headers)
    assert (response.status_code, response["Allow"]) == (405, "POST")


@pytest.mark.parametrize("modern", [True, False])
def test_a_method_that_nobody_knows_is_named_as_such(caller: Mcp, modern: bool) -> None:
    if modern:
        assert error(caller.request("skills/destroy")) == (404, -32601)
    else:
        body = {**ONE, "method": "skills/destroy"}
        assert error(caller.post(body, {"MCP-Protocol-Version": LEGACY})) == (200, -32601)


def test_a_notification_is_taken_without_an_answer(caller: Mcp) -> None:
    response = caller.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


def test_a_crash_tells_nothing_of_itself(
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
def test_the_name_in_the_header_is_that_of_the_body(caller: Mcp, name: str | None) -> None:
    headers = {**HEADERS, "Mcp-Method": "resources/read", **({"Mcp-Name": name} if name else {})}
    body = modern("resources/read", uri="skill://offers/SKILL.md")
    assert error(caller.post(body, headers)) == (400, -32020)


def test_a_name_that_no_header_can_hold_comes_encoded(caller: Mcp, offers: Any) -> None:
    uri = "skill://offers/assets/Ü ber 100%.txt"
    assert caller.ask("resources/read", uri=uri)["contents"][0]["text"] == "ü\n"


def test_a_revision_that_is_not_spoken_here_is_refused_with_those_that_are(caller: Mcp) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    response = caller.post(modern() | {"params": {"_meta": meta}}, {**HEADERS, "MCP-Protocol-Version": "1900-01-01"})
    assert error(response) == (400, -32022)
    assert response.json()["error"]["data"] == {
        "supported": [MODERN, LEGACY, "2025-06-18"],
        "requested": "1900-01-01",
    }
    assert response.json()["id"] == 1


@pytest.mark.parametrize("missing", list(META))
def test_what_every_request_must_say_is_missed(caller: Mcp, missing: str) -> None:
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
def test_a_handshake_settles_on_a_revision_that_has_one(caller: Mcp, asked: Any, settled: str) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = caller.post(body)
    result = response.json()["result"]
    assert result["protocolVersion"] == settled
    assert result["serverInfo"]["name"] == "skillsite"
    assert "Mcp-Session-Id" not in response


def test_after_a_handshake_the_methods_answer_without_more_headers(caller: Mcp, offers: Any) -> None:
    assert [skill["uri"] for skill in caller.ask_old("skills/list")["skills"]] == ["skill://offers/SKILL.md"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert caller.post(body).json()["result"]["tools"]


def test_a_handshake_may_not_name_a_revision_that_does_not_exist_in_its_header(caller: Mcp) -> None:
    assert error(caller.post({**ONE, "method": "tools/list"}, {"MCP-Protocol-Version": "2031-01-01"})) == (400, -32022)


# -- Who may ask ---------------------------------------------------------------------------------------------------


def test_without_a_token_nobody_gets_in(caller: Mcp) -> None:
    caller.headers = {}
    response = caller.post(ONE)
    assert error(response) == (401, -32600)
    metadata = "http://testserver/.well-known/oauth-protected-resource/mcp"
    assert response["WWW-Authenticate"] == f'Bearer realm="skillsite", resource_metadata="{metadata}"'


@pytest.mark.parametrize("given", ["Bearer sks_wrong", "Bearer", "Basic dTpw", "bearer  ", "Bearer sks_\u00ff"])
def test_a_wrong_token_opens_nothing(caller: Mcp, given: str) -> None:
    caller.headers = {"Authorization": given}
    response = caller.post(ONE)
    assert error(response) == (401, -32600)
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


def test_a_token_that_may_not_read_is_told_so(mcp: Callable[..., Mcp]) -> None:
    response = mcp("propose").post(ONE)
    assert error(response) == (403, -32600)
    assert 'error="insufficient_scope", scope="read"' in response["WWW-Authenticate"]


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://testserver.evil", "https://testserver", "x", "http://[", "http://[x]"],
)
@pytest.mark.parametrize("public_url", ["http://localhost:8000", "", "skills.example.org"])
def test_pages_of_other_sites_are_refused(caller: Mcp, settings: Any, origin: str, public_url: str) -> None:
    settings.PUBLIC_URL = public_url
    assert error(caller.post(ONE, {"Origin": origin})) == (403, -32600)


@pytest.mark.parametrize("origin", ["http://testserver", "HTTP://TestServer", "https://tools.example"])
def test_our_own_pages_and_named_origins_may_ask(caller: Mcp, settings: Any, origin: str) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://tools.example"]
    assert caller.post(ONE, {"Origin": origin}).status_code == 200


def test_a_minute_has_an_end(caller: Mcp, settings: Any) -> None:
    settings.RATE_LIMIT_READ = 1
    caller.post(ONE)
    response = caller.post(ONE)
    assert error(response) == (429, -32600)
    assert int(response["Retry-After"]) > 0


def test_answers_are_nobody_elses(caller: Mcp) -> None:
    response = caller.post(ONE)
    assert response["Cache-Control"] == "private, no-store"
    assert response["Referrer-Policy"] == "no-referrer"
