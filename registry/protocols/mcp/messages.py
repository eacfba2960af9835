"""JSON-RPC as MCP uses it: one message in a body, one answer, and the errors that the protocol names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

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
        """A parameter that must be a text."""
        value = self.params.get(name)
        if not isinstance(value, str) or not value:
            raise Refused(INVALID_PARAMS, f"The parameter {name} is needed, and is a text.")
        return value


class Refused(Exception):
    """`status` is the HTTP status where the protocol names one; other errors travel in an ordinary answer."""

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
    """A resource that is not there; the data is exactly this, for clients tell it by that from other bad parameters."""
    return Refused(INVALID_PARAMS, message, data={"uri": uri})


def parse(body: bytes) -> Message:
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
        if b"\\u" in body:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, "The body is not JSON in UTF-8.", status=400) from error
    if isinstance(value, list):
        raise Refused(INVALID_REQUEST, "Batches are not part of this protocol: send one message a request.", status=400)
    if not isinstance(value, dict):
        raise Refused(INVALID_REQUEST, "A message is a JSON object.", status=400)
    return _message(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _message(value: dict[str, Any]) -> Message:
    request_id = value.get("id")
    if "id" in value and (isinstance(request_id, bool) or not isinstance(request_id, str | int)):
        raise Refused(INVALID_REQUEST, "id is a text or a whole number.", status=400)
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'A message says "jsonrpc": "2.0".', status=400, id=request_id)
    if not isinstance(method, str) or not method:
        raise Refused(INVALID_REQUEST, "method is needed, and is a text.", status=400, id=request_id)
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "params is an object.", status=400, id=request_id)
    return Message(method, params, request_id)


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def result(request_id: Id, body: bytes) -> bytes:
    """`body` is the result as JSON already: kept results are not written again."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (dump(request_id), body)


def error(refused: Refused) -> bytes:
    said: dict[str, object] = {"code": refused.code, "message": refused.message}
    if refused.data is not None:
        said["data"] = refused.data
    answer: dict[str, object] = {"jsonrpc": "2.0", "error": said}
    if refused.id is not None:
        answer["id"] = refused.id
    return dump(answer)
