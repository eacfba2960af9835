"""JSON values of runs: types of fields, canonical text, digests and sizes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Any  # None, bool, int, float, str, list or dict with text keys

STRING, NUMBER, INTEGER, BOOLEAN, OBJECT, ARRAY = "string", "number", "integer", "boolean", "object", "array"
TYPES = (STRING, NUMBER, INTEGER, BOOLEAN, OBJECT, ARRAY)
ANY = ""  # of a built-in capability that takes every value, also null


@dataclass(frozen=True, slots=True)
class Field:
    """An input or output of a workflow or a capability. `default` is used for an input that is missing."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    default: Json = None
    has_default: bool = False


Fields = Mapping[str, Field]


def fits(value: Json, type_: str) -> bool:
    """Return whether a value has a type. Null only fits ANY: whether a field may be empty is up to its reader."""
    match type_:
        case "":
            return True
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case _:
            return isinstance(value, list)


def type_of(value: Json) -> str:
    """Return the type of a value, for messages."""
    if value is None:
        return "null"
    return next((name for name in (INTEGER, NUMBER, STRING, BOOLEAN, OBJECT, ARRAY) if fits(value, name)), "unknown")


def canonical(value: Json) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Json) -> str:
    return f"sha256:{hashlib.sha256(canonical(value).encode()).hexdigest()}"
