"""JSON-RPC messages of an MCP client."""

from collections.abc import Mapping
from typing import Any

from registry.core.workflows.values import Json
from registry.lib.circuit_breaker import Outcome
from registry.remote.bindings import answers
from registry.remote.bindings.failure import BindingFailed, unusable_answer

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the newest is asked for
METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_VERSION = -32601, -32602, -32022
IDEMPOTENCY_META = "skillsite/idempotencyKey"
_PREFIX = "io.modelcontextprotocol/"
_CLIENT = {"name": "skillsite", "version": "1"}

Params = Mapping[str, Any]


class NoHandshake(Exception):
    """The server refuses `initialize`. It may speak the stateless revision."""


class ErrorAnswer(BindingFailed):
    """A JSON-RPC error. Its text is not passed on, because another server wrote it."""

    def __init__(self, server: str, code: int) -> None:
        hints = {
            METHOD_NOT_FOUND: "It has no tools.",
            INVALID_PARAMS: "Check the name of the tool and its arguments.",
            UNSUPPORTED_VERSION: "It speaks no revision of MCP that this site knows.",
        }
        hint = hints.get(code, "Its log says more.")
        super().__init__(f"{server} answered with the MCP error {code}. {hint}", outcome=Outcome.SUCCESS)
        self.rpc_code = code


def initialize() -> Params:
    return {"protocolVersion": HANDSHAKE[0], "capabilities": {}, "clientInfo": _CLIENT}


def stateless(params: Params) -> Params:
    """Return parameters with the fields that replace the handshake."""
    fields = {"protocolVersion": STATELESS, "clientCapabilities": {}, "clientInfo": _CLIENT}
    return {**params, "_meta": {**params.get("_meta", {}), **{f"{_PREFIX}{name}": one for name, one in fields.items()}}}


def request(method: str, params: Params, id_: int) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def notification(method: str) -> Json:
    return {"jsonrpc": "2.0", "method": method}


def result(body: bytes, id_: int, server: str) -> dict[str, Any]:
    """Return the result in the response to a request."""
    message = answers.parse(body, server)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise unusable_answer(f"{server} answered with JSON that is no message of MCP. Check the address.")
    error, found = message.get("error"), message.get("result")
    if isinstance(error, dict):
        code = error.get("code")
        raise ErrorAnswer(server, code if isinstance(code, int) and abs(code) < 100_000 else 0)
    if message.get("id") != id_ or not isinstance(found, dict):
        raise unusable_answer(f"The answer of {server} does not belong to the request.")
    return found


def negotiated(answer: Mapping[str, Any], server: str) -> str:
    """Return the revision that the server chose."""
    version = answer.get("protocolVersion")
    if version not in HANDSHAKE:
        raise unusable_answer(f"{server} speaks a revision of MCP that this site does not know.")
    return str(version)


def outputs(answer: Mapping[str, Any], tool: str, server: str, picks: Json) -> dict[str, Any]:
    """Return the outputs in the result of a tool: its structured content, or its text, which may be JSON."""
    if answer.get("isError"):
        raise BindingFailed(f"The tool {tool!r} of {server} reported an error.", outcome=Outcome.SUCCESS)
    if answer.get("resultType", "complete") != "complete":
        raise unusable_answer(f"The tool {tool!r} of {server} asks for more input, which a step cannot give.")
    structured = answer.get("structuredContent")
    if structured is not None:
        return answers.outputs(structured, picks)
    content = answer.get("content")
    items = content if isinstance(content, list) else []
    texts = [str(one.get("text", "")) for one in items if isinstance(one, dict) and one.get("type") == "text"]
    text = "\n".join(texts)
    if text.lstrip()[:1] in ("{", "["):
        try:
            return answers.outputs(answers.parse(text.encode(errors="replace"), server), picks)
        except BindingFailed:
            return answers.outputs({"text": text}, picks)  # prose that only starts like JSON
    return answers.outputs({"text": text}, picks)
