"""An MCP server over HTTP on loopback: with a handshake and sessions, or stateless; JSON or events."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.services.receivers import Receiver, answering

Message = dict[str, Any]
Tool = Callable[[Message], Message]


def echo(params: Message) -> Message:
    return {"structuredContent": {"arguments": params["arguments"], "meta": params["_meta"]}}


class McpServer:
    """`tool` returns the result of a call. Tests replace attributes to let the server misbehave."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.tool: Tool = echo
        self.version = "2025-11-25"
        self.handshake = True
        self.handshake_status = 200
        self.session = "session-1"
        self.events: Callable[[bytes], bytes] | None = None  # turns a response into a stream
        self.after: Callable[[BaseHTTPRequestHandler], None] = lambda handler: None
        receiver.behave = self._behave

    @property
    def url(self) -> str:
        return self.receiver.url("/mcp")

    @property
    def methods(self) -> list[str]:
        return [json.loads(got.body)["method"] if got.body else got.method for got in self.receiver.got]

    def _behave(self, handler: BaseHTTPRequestHandler) -> None:
        got = self.receiver.got[-1]
        if got.method == "DELETE":
            answering(204)(handler)
            return
        message = json.loads(got.body)
        if "id" not in message:
            answering(202)(handler)
        elif message["method"] == "initialize" and self.handshake_status != 200:
            answering(self.handshake_status, b"{}")(handler)
        elif message["method"] == "initialize":
            self._initialize(handler, message)
        else:
            self._answer(handler, message, {"result": self.tool(message["params"])})

    def _initialize(self, handler: BaseHTTPRequestHandler, message: Message) -> None:
        if not self.handshake:
            self._answer(handler, message, {"error": {"code": -32601, "message": "upstream words"}})
            return
        more = {"Mcp-Session-Id": self.session} if self.session else {}
        body = {"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": self.version}}
        answering(200, json.dumps(body).encode(), **{"Content-Type": "application/json", **more})(handler)

    def _answer(self, handler: BaseHTTPRequestHandler, message: Message, answer: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()
        if self.events is None:
            answering(200, body, **{"Content-Type": "application/json; charset=utf-8"})(handler)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(self.events(body))
        handler.wfile.flush()
        self.after(handler)
