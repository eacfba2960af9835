"""A scripted model on loopback, in place of the one that Claude Code asks. No account is needed.

It calls one tool, and then repeats the result of the tool as its answer.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Model:
    """The tool to call and its arguments. `results` are the results that the client sent back."""

    tool: str
    arguments: dict[str, Any]
    url: str = ""
    results: list[str] = field(default_factory=list)
    offered: set[str] = field(default_factory=set)

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the content block that answers a request."""
        self.offered |= {tool["name"] for tool in request.get("tools", ())}
        last = request["messages"][-1]["content"]
        results = [block for block in last if block["type"] == "tool_result"] if isinstance(last, list) else []
        if results:
            self.results += [_text(block["content"]) for block in results]
            return {"type": "text", "text": self.results[-1]}
        if not request.get("tools"):
            return {"type": "text", "text": "A title."}
        return {"type": "tool_use", "id": "toolu_1", "name": self.tool, "input": self.arguments}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _events(block: dict[str, Any], model: str) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield {"type": "message_start", "message": message}
    calls = block["type"] == "tool_use"
    start = {**block, "input": {}} if calls else {**block, "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if calls else None
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {
        "type": "content_block_delta",
        "index": 0,
        "delta": delta or {"type": "text_delta", "text": block["text"]},
    }
    yield {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": usage}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            return self._send(b'{"input_tokens":1}', "application/json")
        block = self.server.model.reply(request)
        events = list(_events(block, request["model"]))
        if not request.get("stream"):
            body = {**events[0]["message"], "content": [block], "stop_reason": "end_turn"}
            return self._send(json.dumps(body).encode(), "application/json")
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return self._send("".join(lines).encode(), "text/event-stream")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def _send(self, body: bytes, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    model: Model


@contextmanager
def scripted(tool: str, arguments: dict[str, Any]) -> Iterator[Model]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.model = Model(tool, arguments, f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.model
        finally:
            server.shutdown()
            thread.join()
