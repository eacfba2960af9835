"""The JSON Schema of a golden file, as the site writes and reads it."""

from typing import Any

from registry.core.routing.golden import (
    CASES,
    CATEGORIES,
    NAME_CHARS,
    NEGATIVE,
    NOTE_CHARS,
    POSITIVE,
    QUERY_CHARS,
    SKILLS,
)

FILE = "golden-set.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema of a golden file as a JSON value."""
    cases = {
        "description": "The test questions. Case and spaces do not make two questions different.",
        "type": "array",
        "minItems": 1,
        "maxItems": CASES,
        "items": {"$ref": "#/$defs/case"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "A golden file: test questions for routing",
        "description": "A list of cases, or an object with a name around it. JSON Lines have one case per line.",
        "oneOf": [
            cases,
            {
                "type": "object",
                "required": ["cases"],
                "properties": {"name": {"description": "For people.", "type": "string"}, "cases": cases},
            },
        ],
        "$defs": {"case": _case(), "skill": {"type": "string", "maxLength": NAME_CHARS, "pattern": r"\S"}},
    }


def _case() -> dict[str, Any]:
    names = {"type": "array", "maxItems": SKILLS, "items": {"$ref": "#/$defs/skill"}}
    one_or_more = [{"type": "null"}, {"type": "string"}, names]
    some = {"anyOf": [{"type": "string", "pattern": r"\S"}, {**names, "minItems": 1}]}
    none = {"anyOf": [{"type": "null"}, {"type": "string", "pattern": r"^\s*$"}, {**names, "maxItems": 0}]}
    return {
        "type": "object",
        "required": ["query", "expected"],
        "properties": {
            "query": {
                "description": "The question, as somebody asks it.",
                "type": "string",
                "maxLength": QUERY_CHARS,
                "pattern": r"\S",
            },
            "expected": {
                "description": "Each of these skills is right. Empty or null if no skill should be found.",
                "anyOf": one_or_more,
            },
            "acceptable": {
                "description": "Each of these skills is neither right nor wrong.",
                "anyOf": one_or_more,
            },
            "category": {
                "description": "The default is positive with an expected skill, and negative without.",
                "enum": list(CATEGORIES),
            },
            "note": {"description": "For people.", "type": "string", "maxLength": NOTE_CHARS},
        },
        "allOf": [_if_category(POSITIVE, some), _if_category(NEGATIVE, none)],
    }


def _if_category(category: str, expected: dict[str, Any]) -> dict[str, Any]:
    return {
        "if": {"required": ["category"], "properties": {"category": {"const": category}}},
        "then": {"properties": {"expected": expected}},
    }
