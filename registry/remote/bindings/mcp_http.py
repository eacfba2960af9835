"""Tools of an MCP server over Streamable HTTP.

The handshake goes first, because it has no effects: a server that refuses it is asked again in the stateless way.
"""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from registry.core.workflows.values import Json
from registry.lib.circuit_breaker import Outcome
from registry.remote import outbound_http
from registry.remote.bindings import mcp_messages as messages
from registry.remote.bindings.answers import MOST_BYTES
from registry.remote.bindings.event_stream import EventStream
from registry.remote.bindings.exchange import Exchange, check_body, check_status
from registry.remote.bindings.failure import BindingFailed, unusable_answer, unusable_input
from registry.remote.bindings.mcp_messages import ErrorAnswer, NoHandshake, Params
from registry.remote.outbound_http import OutboundResponse

_END_SECONDS = 2.0
_REFUSALS_OF_HANDSHAKE = frozenset({400, 404, 405})
_CODES_WITHOUT_HANDSHAKE = frozenset({messages.METHOD_NOT_FOUND, messages.UNSUPPORTED_VERSION})


@dataclass
class McpOverHttp:
    """One server. `headers` are those of the operator, with their secrets."""

    url: httpx.URL
    headers: Mapping[str, str]
    exchange: Exchange
    _session: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return outbound_http.host_of(str(self.url))

    def call_tool(self, params: Params) -> dict[str, Any]:
        """Return the result of a tool, or raise BindingFailed."""
        try:
            with before_the_call():
                self._shake_hands()
        except NoHandshake:
            self._session = {
                "mcp-protocol-version": messages.STATELESS,
                "mcp-method": "tools/call",
                "mcp-name": _header(str(params["name"])),
            }
            return self._ask("tools/call", messages.stateless(params), 2)
        try:
            return self._ask("tools/call", params, 2)
        finally:
            self._end_session()

    def _shake_hands(self) -> None:
        response = self._post(messages.request("initialize", messages.initialize(), 1), 1)
        if response.status in _REFUSALS_OF_HANDSHAKE:
            raise NoHandshake
        try:
            version = messages.negotiated(self._result(response, 1), self.host)
        except ErrorAnswer as error:
            if error.rpc_code in _CODES_WITHOUT_HANDSHAKE:
                raise NoHandshake from None
            raise
        self._session = {"mcp-protocol-version": version}
        session = response.headers.get("mcp-session-id", "")
        if session:
            if not (session.isascii() and session.isprintable() and len(session) <= 1_000):
                raise unusable_answer(f"{self.host} answered with an invalid session.")
            self._session["mcp-session-id"] = session
        check_status(self.host, self._post(messages.notification("notifications/initialized")))

    def _ask(self, method: str, params: Params, id_: int) -> dict[str, Any]:
        return self._result(self._post(messages.request(method, params, id_), id_), id_)

    def _post(self, message: Json, id_: int = 0) -> OutboundResponse:
        headers = {
            **self.headers,
            **self._session,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        try:
            content = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except (ValueError, RecursionError):
            raise unusable_input("The input contains text or numbers that JSON cannot hold.") from None
        return self.exchange.send("POST", self.url, headers=headers, content=content, enough=EventStream(id_).feed)

    def _result(self, response: OutboundResponse, id_: int) -> dict[str, Any]:
        check_status(self.host, response)
        is_stream = response.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream"
        if is_stream and not response.complete:
            message = f"{self.host} sent more than {MOST_BYTES:,} bytes before it answered."
            raise BindingFailed(message, maybe_done=True, outcome=Outcome.SUCCESS)
        check_body(self.host, response)
        body = response.body
        if is_stream:
            stream = EventStream(id_)
            stream.feed(body)
            stream.finish()
            if stream.response is None:
                message = f"{self.host} closed the stream before it answered."
                raise BindingFailed(message, retryable=True, maybe_done=True, outcome=Outcome.FAILURE)
            body = stream.response
        return messages.result(body, id_, self.host)

    def _end_session(self) -> None:
        """Tell the server that the session is over. It ends anyway if the server does not hear of it."""
        if "mcp-session-id" in self._session:
            soon = min(self.exchange.deadline, time.monotonic() + _END_SECONDS)
            with suppress(BindingFailed):
                replace(self.exchange, deadline=soon).send(
                    "DELETE", self.url, headers={**self.headers, **self._session}
                )


@contextmanager
def before_the_call() -> Iterator[None]:
    """Mark failures as ones that happened before the tool was called."""
    try:
        yield
    except BindingFailed as error:
        error.maybe_done = False
        raise


def _header(value: str) -> str:
    """Return a value as the stateless revision encodes it in a header."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
