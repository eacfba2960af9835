"""MCP tools: the definition of a tool, the check of its arguments, and its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.protocols.mcp.context import Context, MethodResult, meta
from registry.protocols.mcp.messages import dump
from registry.services.catalog.catalog import Loaded

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `properties` describe its arguments in JSON Schema; `scope` is the scope that a caller needs.

    `output` describes its structured result. The result of a `cacheable` tool depends only on its arguments and on
    what the caller may see. A tool that `changes_others` may change something outside of this site, such as a workflow.
    """

    name: str
    title: str
    description: str
    call: Callable[[Context, Arguments], MethodResult]
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    scope: str = roles.READ
    reads: bool = True
    output: Mapping[str, Any] | None = None
    cacheable: bool = True
    changes_others: bool = False

    def as_json(self) -> dict[str, Any]:
        output = {} if self.output is None else {"outputSchema": self.output}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": dict(self.properties),
                "required": list(self.required),
                "additionalProperties": False,
            },
            **output,
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": self.changes_others,
                "openWorldHint": self.changes_others,
            },
        }

    def check(self, arguments: Arguments) -> None:
        if unknown := sorted(set(arguments) - set(self.properties)):
            allowed = ", ".join(self.properties)
            raise InvalidRequest(f"Unknown arguments: {', '.join(unknown)[:200]}. Allowed: {allowed}.")
        for key, schema in self.properties.items():
            value = arguments.get(key)
            if key in self.required and (value is None or (value == "" and schema.get("minLength") != 0)):
                raise InvalidRequest(f"{key} is required.")
            kind, label = _KINDS[schema["type"]]
            if key in arguments and (isinstance(value, bool) or not isinstance(value, kind)):
                raise InvalidRequest(f"{key} must be {label}.")


_KINDS: dict[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "integer": (int, "an integer"),
    "array": (list, "an array"),
    "object": (dict, "an object"),
}
TEXT = {"type": "string"}


def text_result(text: str, loaded: Loaded | None = None, *, counts: bool = False) -> MethodResult:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if loaded is None:
        return MethodResult(result)
    result["_meta"] = meta(loaded.candidate)
    return MethodResult(result, ((loaded.name, loaded.candidate.version),) if counts else ())


def structured(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": dump(body).decode()}],
        "structuredContent": body,
        "isError": not body["ok"],
    }
