"""Callers of the doors, and a project with skills worth asking for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core.bundle import Bundle
from registry.models import Project, Token
from registry.services.agents import agents, tokens
from registry.services.permissions import Actor
from registry.services.skills import bundles
from tests.conftest import skill_bundle
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
FILES = {
    "references/terms.md": "# Terms – Preise\r\n".encode(),
    "references/deep/more.txt": b"more\n",
    "assets/Ü ber 100%.txt": "ü\n".encode(),
    "assets/bytes.bin": bytes(range(256)),
}


@pytest.fixture
def secret(project: Project, operator: Actor) -> Callable[..., str]:
    """A token of an agent with the given scopes."""

    def make(*scopes: str, where: Project = project, agent: str = "bot") -> str:
        who = agents.ensure(where, agent, by=operator)
        return tokens.create_token(where, agent=who, scopes=scopes or ("read",), by=operator)

    return make


@pytest.fixture
def offers(project: Project, operator: Actor) -> Bundle:
    """A skill with files that are hard to carry."""
    bundle = skill_bundle("offers", FILES, body="# Offers\n\nSee references/terms.md.", requires=["greeting"])
    bundles.import_bundle(project, bundle, by=operator)
    return bundle


class Mcp:
    """One caller of /mcp. `ask` speaks the stateless revision, `ask_old` the one with a handshake."""

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
        if method in ("resources/read", "tools/call") and isinstance(name, str):
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
    import base64

    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


@pytest.fixture
def mcp(secret: Callable[..., str]) -> Callable[..., Mcp]:
    def make(*scopes: str, **more: Any) -> Mcp:
        return Mcp(secret(*scopes, **more))

    return make


@pytest.fixture
def caller(mcp: Callable[..., Mcp]) -> Mcp:
    return mcp()


def revoke_all(project: Project, operator: Actor) -> None:
    for token in Token.objects.filter(project=project, revoked_at=None):
        tokens.revoke_token(project, token.pk, by=operator)
