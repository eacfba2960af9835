"""A client of /mcp for tests."""

import base64
import json
from typing import Any

from django.test import Client

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Mcp:
    """A caller of /mcp. `ask` uses the stateless revision, `ask_old` the one with a handshake."""

    def __init__(self, token: str, path: str = "/mcp") -> None:
        self.path = path
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = Client(raise_request_exception=True)

    def post(self, body: Any, headers: dict[str, str] | None = None, content_type: str = "application/json") -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.generic(
            "POST", self.path, data=data, content_type=content_type, headers={**self.headers, **(headers or {})}
        )

    def request(self, method: str, params: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> Any:
        given = {"_meta": META, **(params or {})}
        sent = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        name = given.get("uri") if method == "resources/read" else given.get("name")
        if method in ("resources/read", "tools/call", "prompts/get") and isinstance(name, str):
            sent["Mcp-Name"] = name if name.isascii() and name.isprintable() else _encoded(name)
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": given}
        return self.post(body, {**sent, **(headers or {})})

    def ask(self, method: str, **params: Any) -> Any:
        response = self.request(method, params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def refusal(self, method: str, **params: Any) -> Any:
        return self.request(method, params).json()["error"]

    def ask_old(self, method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
        return self.post(body, {"MCP-Protocol-Version": LEGACY}).json()["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=tool, arguments=arguments)


def _encoded(name: str) -> str:
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="
