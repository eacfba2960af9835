"""The JSON Schema of a golden file agrees with the code that reads golden files."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import registry
from registry.core.errors import InvalidRequest
from registry.core.routing import golden_files, golden_schema

VALIDATOR = Draft202012Validator(golden_schema.schema())
LIBRARY = Path(registry.__file__).parent / "golden" / "library.json"


def is_valid(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def test_the_schema_is_valid_and_accepts_the_shipped_set_and_every_export() -> None:
    Draft202012Validator.check_schema(golden_schema.schema())
    assert is_valid(json.loads(LIBRARY.read_bytes()))
    cases = golden_files.read(LIBRARY.read_bytes())
    assert is_valid(json.loads(golden_files.to_json("x", cases)))
    assert is_valid([json.loads(line) for line in golden_files.to_json_lines(cases).splitlines()])


@pytest.mark.parametrize(
    "entry",
    [
        {"query": "a", "expected": None},
        {"query": "a", "expected": "b"},
        {"query": "a", "expected": ["b", "c"], "acceptable": "d", "note": ""},
        {"query": "a", "expected": [], "category": "near-miss"},
        {"query": "a", "expected": "", "category": "negative"},
    ],
)
def test_both_accept(entry: dict[str, Any]) -> None:
    assert is_valid([entry])
    assert golden_files.read(json.dumps([entry]))


@pytest.mark.parametrize(
    "entry",
    [
        {"query": " ", "expected": None},
        {"query": "a"},
        {"query": 1, "expected": None},
        {"query": "a", "expected": [1]},
        {"query": "a", "expected": ["b" * 129]},
        {"query": "a", "expected": [""]},
        {"query": "a", "expected": [], "category": "positive"},
        {"query": "a", "expected": "b", "category": "negative"},
        {"query": "a", "expected": [], "category": "odd"},
        {"query": "a", "expected": [], "note": "n" * 301},
        {"query": "a" * 20_001, "expected": []},
    ],
)
def test_both_refuse(entry: dict[str, Any]) -> None:
    assert not is_valid([entry])
    with pytest.raises(InvalidRequest):
        golden_files.read(json.dumps([entry]))
