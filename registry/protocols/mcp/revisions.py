"""Revisions of MCP: the stateless one, whose headers must match the body, and older ones with a handshake."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from registry.protocols.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    Message,
    Refused,
)

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18")
SUPPORTED = (MODERN, *LEGACY)

_PREFIX = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, SERVER_INFO = (
    f"{_PREFIX}protocolVersion",
    f"{_PREFIX}clientCapabilities",
    f"{_PREFIX}serverInfo",
)
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MODERN_ONLY = frozenset({"server/discover"})
# Keys of `request.META`, because building `request.headers` is slower than the rest of the check.
_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER = "HTTP_MCP_PROTOCOL_VERSION", "HTTP_MCP_METHOD", "HTTP_MCP_NAME"


def is_modern(message: Message, meta: Mapping[str, Any]) -> bool:
    """Return whether the message uses the stateless revision.

    Raise Refused for an unsupported revision, or if headers and body differ.
    """
    in_body, header = message.meta.get(_VERSION), meta.get(_VERSION_HEADER)
    handshake = message.method == "initialize" or (header in (None, *LEGACY) and message.method not in _MODERN_ONLY)
    if in_body is None and handshake:
        return False
    version = _version(in_body, header)
    if version in LEGACY:
        return False
    if message.id is not None:
        _check(message, meta)
    return True


def _version(in_body: Any, header: str | None) -> str:
    if header is None:
        raise _mismatch("The header MCP-Protocol-Version is missing.")
    if in_body is not None and header != in_body:
        raise _mismatch(f"The header MCP-Protocol-Version is {header!r}, but the body has {in_body!r}.")
    if header not in SUPPORTED:
        raise Refused(
            UNSUPPORTED_VERSION,
            "This revision of the protocol is not supported.",
            status=400,
            data={"supported": list(SUPPORTED), "requested": header},
        )
    if in_body is None:
        raise Refused(INVALID_PARAMS, f"_meta lacks {_VERSION}.", status=400)
    return header


def _check(message: Message, meta: Mapping[str, Any]) -> None:
    if not isinstance(message.meta.get(_CAPABILITIES), dict):
        raise Refused(INVALID_PARAMS, f"_meta lacks {_CAPABILITIES}.", status=400)
    method = meta.get(_METHOD_HEADER)
    if method != message.method:
        raise _mismatch(f"The header Mcp-Method is {method!r}, but the body has {message.method!r}.")
    source = _NAMED.get(message.method)
    if source is not None and isinstance(message.params.get(source), str):
        name = _decode(meta.get(_NAME_HEADER))
        if name != message.params[source]:
            raise _mismatch(f"The header Mcp-Name is {name!r}, but the body has {message.params[source]!r}.")


def _decode(value: str | None) -> str | None:
    """Decode the value of a header. Values that a header can't hold are sent as =?base64?…?=."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _mismatch(message: str) -> Refused:
    return Refused(HEADER_MISMATCH, message, status=400)


def negotiate(requested: object) -> str:
    """Return the revision for a handshake: the requested one if supported, else the newest with a handshake."""
    return requested if isinstance(requested, str) and requested in LEGACY else LEGACY[0]
