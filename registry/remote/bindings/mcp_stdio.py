"""Tools of an MCP server that is started for each call and speaks over its standard input and output."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from registry.core.workflows.values import Json
from registry.remote.bindings import mcp_messages as messages
from registry.remote.bindings.answers import MOST_BYTES
from registry.remote.bindings.child_process import ChildProcess
from registry.remote.bindings.failure import unusable_input
from registry.remote.bindings.mcp_http import before_the_call
from registry.remote.bindings.mcp_messages import ErrorAnswer, Params

_CODES_WITHOUT_HANDSHAKE = frozenset({messages.METHOD_NOT_FOUND, messages.UNSUPPORTED_VERSION})


@dataclass(frozen=True, slots=True)
class McpOverStdio:
    command: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    seconds: float

    def call_tool(self, params: Params) -> dict[str, Any]:
        """Return the result of a tool, or raise BindingFailed."""
        process = ChildProcess(self.command, self.arguments, self.environment, seconds=self.seconds, most=MOST_BYTES)
        line = _line(messages.request("tools/call", params, 2))
        stateless_line = _line(messages.request("tools/call", messages.stateless(params), 2))
        with process:
            with before_the_call():
                shook_hands = self._shake_hands(process)
            process.write(line if shook_hands else stateless_line)
            return self._answer(process, 2)

    def _shake_hands(self, process: ChildProcess) -> bool:
        """Return whether the server wants a handshake."""
        process.write(_line(messages.request("initialize", messages.initialize(), 1)))
        try:
            messages.negotiated(self._answer(process, 1), self.command)
        except ErrorAnswer as error:
            if error.rpc_code not in _CODES_WITHOUT_HANDSHAKE:
                raise
            return False
        process.write(_line(messages.notification("notifications/initialized")))
        return True

    def _answer(self, process: ChildProcess, id_: int) -> dict[str, Any]:
        """Return the result of a request. Requests of the server are answered, or it might wait for ever."""
        while True:
            line = process.read()
            message = _message(line)
            if "method" not in message and message.get("id") in (id_, None):
                if message or line.strip():
                    return messages.result(line, id_, self.command)
            elif "id" in message and "method" in message:
                process.write(_line(_reply(message)))


def _message(line: bytes) -> dict[str, Any]:
    """Return a message, or an empty one for a line that is none."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        if isinstance(message, dict):
            return message
    return {}


def _reply(message: Mapping[str, Any]) -> Json:
    """Return the answer to a request of the server. This client can do nothing for it but show that it lives."""
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return {**answer, "result": {}}
    return {**answer, "error": {"code": messages.METHOD_NOT_FOUND, "message": "Not supported."}}


def _line(message: Json) -> bytes:
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise unusable_input("The input contains numbers that JSON cannot hold.") from None
