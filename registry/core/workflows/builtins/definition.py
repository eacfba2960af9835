"""The definition of a built-in capability, and the checks around its call.

A function of a built-in gets all its fields: those that are missing have their default, or None. The check of its
result is the last one, so a function only bounds what it builds where that could be much more than the limit.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from registry.core import roles
from registry.core.workflows.capability import BUILTIN, Capability, Hints, Produced, Properties, Safety
from registry.core.workflows.capability_json import sealed
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import ANY, TYPES, Field, Json

VERSION = "1.0.0"
MOST_BYTES = 1024 * 1024  # of the JSON text of an output
MOST_DEPTH = 64  # of nested objects and arrays

_DECLARATION = re.compile(r"(?P<name>\w+)(?P<optional>\?)?: (?P<type>\w+)(?: = (?P<default>\S+|\"[^\"]*\"))?")


class Context(Protocol):
    """The world outside, given by the caller: core has no clock."""

    @property
    def remaining_seconds(self) -> float:
        """Return how long the call may still take."""

    def now(self) -> datetime:
        """Return the time, with a time zone."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


Inputs = dict[str, Json]
Function = Callable[[dict[str, Json], Context], dict[str, Json]]


@dataclass(frozen=True, slots=True)
class Builtin:
    capability: Capability
    run: Function


def refuse(message: str) -> StepFailed:
    """Return the failure of a call, for `raise`."""
    return StepFailed(Code.CALL, message)


def define(
    id_: str,
    run: Callable[[Inputs], dict[str, Json]] | Function,
    description: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    *,
    role: tuple[str, ...] = (),
    produces: Mapping[str, str] | None = None,
    world: bool = False,
) -> Builtin:
    """Return a built-in capability.

    `inputs` and `outputs` map declarations such as `name: string` or `limit?: integer = 10` to their description. The
    default is JSON. `world` is set if the function also takes the context, so that it is not deterministic.
    """
    capability = Capability(
        id=id_,
        version=VERSION,
        description=description,
        inputs=_fields(inputs),
        outputs=_fields(outputs),
        binding={"kind": BUILTIN, "function": id_},
        safety=Safety(roles.SANDBOX),
        properties=Properties(side_effects=False, idempotent=True, deterministic=not world),
        hints=Hints(role=role, produces={name: Produced(type_) for name, type_ in (produces or {}).items()}),
    )
    function = _checked(capability, run if world else lambda given, _: run(given))  # type: ignore[arg-type,call-arg]
    return Builtin(sealed(capability), function)


def _fields(declarations: Mapping[str, str]) -> dict[str, Field]:
    fields = {}
    for declaration, description in declarations.items():
        match = _DECLARATION.fullmatch(declaration)
        if match is None or match["type"] not in (*TYPES, "any"):
            raise ValueError(f"“{declaration}” is not the declaration of a field.")
        default = match["default"]
        fields[match["name"]] = Field(
            name=match["name"],
            type=ANY if match["type"] == "any" else match["type"],
            required=match["optional"] is None,
            description=description,
            default=None if default is None else json.loads(default),
            has_default=default is not None,
        )
    return fields


def _checked(capability: Capability, run: Function) -> Function:
    """Return the function with defaults for what is missing, and with a check of its result."""

    def call(inputs: dict[str, Json], context: Context) -> dict[str, Json]:
        given = {}
        for name, field in capability.inputs.items():
            value = inputs.get(name)
            given[name] = field.default if value is None else value
        check_size(given, "input")
        result = run(given, context)
        check_size(result, "result")
        return result

    return call


def check_size(value: Json, subject: str) -> None:
    """Refuse values that are too large, too deep, or no JSON. Stop as soon as one is."""
    waiting, size = [(value, 0)], 0
    while waiting:
        item, depth = waiting.pop()
        size += 2
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, dict):
            size += sum(map(len, item))
            waiting.extend((child, depth + 1) for child in item.values())
        elif isinstance(item, list):
            waiting.extend((child, depth + 1) for child in item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise refuse(f"The {subject} contains a number that is too large.")
        elif isinstance(item, int) and item.bit_length() > 4_000:
            raise refuse(f"The {subject} contains a number with more than 1,000 digits.")
        if depth > MOST_DEPTH:
            raise refuse(f"The {subject} is nested more than {MOST_DEPTH} levels deep.")
        if size + len(waiting) > MOST_BYTES + 1024:
            raise _too_large(subject)
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if len(text) > MOST_BYTES or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES):
        raise _too_large(subject)


def _too_large(subject: str) -> StepFailed:
    return refuse(f"The {subject} is larger than 1 MiB. Work on a part of it.")
