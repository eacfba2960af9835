"""JSON-RPC messages and errors of MCP."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from registry.lib.json_values import MOST_VALUES, has_more_values

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

Id = str | int


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification where `id` is None."""

    method: str
    params: Mapping[str, Any]
    id: Id | None

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    def text(self, name: str) -> str:
        """Return a required string parameter."""
        value = self.params.get(name)
        if not isinstance(value, str) or not value:
            raise Refused(INVALID_PARAMS, f"The parameter {name} is required and must be a string.")
        return value


class Refused(Exception):
    """A JSON-RPC error. `status` is the HTTP status, which is 200 where the protocol names no other."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int = 200,
        data: object = None,
        id: Id | None = None,  # noqa: A002
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.data, self.id = code, message, status, data, id
        self.headers = headers or {}


def unknown(uri: str, message: str) -> Refused:
    """Return the error for an unknown resource. Clients recognise it by exactly this `data`."""
    return Refused(INVALID_PARAMS, message, data={"uri": uri})


def parse(body: bytes) -> Message:
    try:
        text = body.decode()
        if has_more_values(text, MOST_VALUES):
            message = f"The body has more than {MOST_VALUES:,} values. Send less in one request."
            raise Refused(INVALID_REQUEST, message, status=413)
        value = json.loads(text, parse_constant=_no_constant)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, "The body is not valid JSON in UTF-8.", status=400) from error
    if isinstance(value, list):
        raise Refused(INVALID_REQUEST, "Batches are not supported. Send one message per request.", status=400)
    if not isinstance(value, dict):
        raise Refused(INVALID_REQUEST, "A message must be a JSON object.", status=400)
    return _message(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _message(value: dict[str, Any]) -> Message:
    request_id = value.get("id")
    if "id" in value and (isinstance(request_id, bool) or not isinstance(request_id, str | int)):
        raise Refused(INVALID_REQUEST, "id must be a string or an integer.", status=400)
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'A message must have "jsonrpc": "2.0".', status=400, id=request_id)
    if not isinstance(method, str) or not method:
        raise Refused(INVALID_REQUEST, "method is required and must be a string.", status=400, id=request_id)
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "params must be an object.", status=400, id=request_id)
    return Message(method, params, request_id)


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def result(request_id: Id, body: bytes) -> bytes:
    """Return the response for a result that is encoded as JSON already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (dump(request_id), body)


def error(refused: Refused) -> bytes:
    body: dict[str, object] = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        body["data"] = refused.data
    response: dict[str, object] = {"jsonrpc": "2.0", "error": body}
    if refused.id is not None:
        response["id"] = refused.id
    return dump(response)
