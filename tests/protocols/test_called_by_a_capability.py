"""The MCP endpoint of the site, called as a capability of a workflow."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from registry.core.bundle import Bundle
from registry.remote.bindings import mcp
from registry.remote.bindings.failure import BindingFailed
from tests.effort import PATIENCE


def call(site: str, token: str, tool: str, inputs: dict[str, Any]) -> dict[str, Any]:
    binding = {"url": f"{site}/mcp", "tool": tool, "headers": {"Authorization": "Bearer secret:TOKEN"}}
    allowed = frozenset({urlsplit(site).netloc})
    return mcp.call(binding, inputs, key="run/a", seconds=PATIENCE, secrets={"TOKEN": token}, allowed=allowed)


@pytest.mark.parametrize("handshake", [True, False])
def test_a_capability_can_call_a_tool_of_the_site(
    live_server: Any,
    secret: Callable[..., str],
    offers: Bundle,
    handshake: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not handshake:
        monkeypatch.setattr("registry.protocols.mcp.endpoint._METHODS", _methods_without_handshake())
    found = call(live_server.url, secret(), "list_skills", {"query": "offers"})
    assert "offers" in str(found)


def _methods_without_handshake() -> dict[str, Any]:
    from registry.protocols.mcp import endpoint

    return {name: method for name, method in endpoint._METHODS.items() if name != "initialize"}


def test_an_unknown_tool_and_a_wrong_token_fail_with_what_to_do(
    live_server: Any, secret: Callable[..., str], offers: Bundle
) -> None:
    with pytest.raises(BindingFailed, match="Check the name of the tool"):
        call(live_server.url, secret(), "no_such_tool", {})
    with pytest.raises(BindingFailed, match="Check the credentials"):
        call(live_server.url, "sks_wrong", "list_skills", {})
