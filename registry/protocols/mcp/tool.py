"""What a tool is: its name and arguments as a client is told them, and the forms of what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.protocols.mcp.context import Context, Outcome, about
from registry.protocols.mcp.messages import dump
from registry.services.catalog.catalog import Loaded

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """`properties` are those of its arguments in JSON Schema; `scope` is what the token of a caller needs."""

    name: str
    title: str
    description: str
    call: Callable[[Context, Arguments], Outcome]
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    scope: str = roles.READ
    reads: bool = True

    def as_json(self) -> dict[str, Any]:
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
            "annotations": {"readOnlyHint": self.reads, "destructiveHint": False, "openWorldHint": False},
        }

    def check(self, arguments: Arguments) -> None:
        if unknown := sorted(set(arguments) - set(self.properties)):
            raise InvalidRequest(f"Unknown: {', '.join(unknown)[:200]}. There are: {', '.join(self.properties)}.")
        for key, schema in self.properties.items():
            if key in self.required and arguments.get(key) in (None, ""):
                raise InvalidRequest(f"{key} is needed.")
            kind, called = _KINDS[schema["type"]]
            value = arguments.get(key)
            if key in arguments and (isinstance(value, bool) or not isinstance(value, kind)):
                raise InvalidRequest(f"{key} is {called}.")


_KINDS: dict[str, tuple[type, str]] = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
}
TEXT = {"type": "string"}


def said(text: str, loaded: Loaded | None = None, *, counts: bool = False) -> Outcome:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if loaded is None:
        return Outcome(result)
    result["_meta"] = about(loaded.candidate)
    return Outcome(result, ((loaded.name, loaded.candidate.version),) if counts else ())


def structured(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": dump(body).decode()}],
        "structuredContent": body,
        "isError": not body["ok"],
    }
