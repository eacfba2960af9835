"""Calls of tools of MCP servers, over HTTP (`url`) or as a child process (`command`)."""

from collections.abc import Mapping
from typing import Any

from registry.core.workflows.binding_templates import VARIABLE, WHOLE_INPUT
from registry.core.workflows.values import Json
from registry.remote import outbound_http
from registry.remote.bindings import mcp_messages, references
from registry.remote.bindings.exchange import Exchange, header_values
from registry.remote.bindings.failure import unusable_definition
from registry.remote.bindings.mcp_http import McpOverHttp
from registry.remote.bindings.mcp_stdio import McpOverStdio
from registry.remote.bindings.secret_values import Secrets, filled, mentions


def call(
    binding: Mapping[str, Any],
    inputs: Mapping[str, Json],
    *,
    key: str,
    seconds: float,
    secrets: Secrets,
    allowed: frozenset[str],
) -> dict[str, Any]:
    """Return the outputs of a tool, or raise BindingFailed.

    `arguments` is a template; without it, the tool gets the whole input. `key` is the same whenever the call is
    repeated, and the tool gets it in `_meta`.
    """
    tool = binding.get("tool")
    if not isinstance(tool, str) or not tool:
        raise unusable_definition("`tool` of the binding must be the name of a tool.")
    arguments = _arguments(binding, inputs)
    params = {"name": tool, "arguments": arguments, "_meta": {mcp_messages.IDEMPOTENCY_META: key}}
    if "command" in binding:
        result = _over_stdio(binding, seconds, secrets).call_tool(params)
    else:
        result = _over_http(binding, seconds, secrets, allowed).call_tool(params)
    return mcp_messages.outputs(result, tool, service(binding), binding.get("outputs"))


def service(binding: Mapping[str, Any]) -> str:
    """Return the command or the host, for messages and for the circuit breaker."""
    if "command" in binding:
        return str(binding["command"])
    return outbound_http.host_of(str(references.url(binding.get("url"), {})))


def _arguments(binding: Mapping[str, Any], inputs: Mapping[str, Json]) -> Json:
    template = binding.get("arguments", WHOLE_INPUT)
    if mentions(template):
        raise unusable_definition(
            "`arguments` of the binding contains a secret. Secrets may be in headers and env only."
        )
    if template == WHOLE_INPUT:
        return references.whole(inputs)
    if not isinstance(template, Mapping):
        raise unusable_definition("`arguments` of the binding must be an object.")
    return references.resolved(template, inputs)


def _over_http(binding: Mapping[str, Any], seconds: float, secrets: Secrets, allowed: frozenset[str]) -> McpOverHttp:
    url = references.url(binding.get("url"), {})
    headers = header_values(_texts(binding, "headers"), secrets)
    return McpOverHttp(url, headers, Exchange.lasting(seconds, allowed))


def _over_stdio(binding: Mapping[str, Any], seconds: float, secrets: Secrets) -> McpOverStdio:
    command, arguments = binding["command"], binding.get("args") or []
    if not isinstance(command, str) or not isinstance(arguments, list):
        raise unusable_definition("`command` of the binding must be a text, and `args` a list of texts.")
    if mentions(arguments) or not all(isinstance(one, str) for one in arguments):
        message = (
            "`args` of the binding must be texts without secrets: everybody on the machine can read them. Use env."
        )
        raise unusable_definition(message)
    environment = {name: filled(value, secrets) for name, value in _texts(binding, "env").items()}
    if not all(VARIABLE.fullmatch(name) for name in environment):
        raise unusable_definition("`env` of the binding must map names of variables to texts.")
    return McpOverStdio(command, arguments, environment, seconds)


def _texts(binding: Mapping[str, Any], name: str) -> Mapping[str, str]:
    found = binding.get(name) or {}
    if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
        raise unusable_definition(f"`{name}` of the binding must map names to texts.")
    return found
