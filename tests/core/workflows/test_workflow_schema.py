"""The JSON Schema of workflow files agrees with the parser."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from registry.core.workflows import documents, workflow_schema
from tests.core.workflows.files import FULL, GOOD, parse

VALIDATOR = Draft202012Validator(workflow_schema.schema())


def is_valid(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def accepts(document: Any) -> bool:
    """Return whether the parser accepts a JSON value, which is YAML too."""
    return parse(json.dumps(document)).plan is not None


def value(text: str) -> Any:
    return documents.load(text, file="workflow.yaml").value


@pytest.mark.parametrize("text", [FULL, GOOD])
def test_the_schema_is_valid_and_accepts_full_files(text: str) -> None:
    Draft202012Validator.check_schema(workflow_schema.schema())
    VALIDATOR.validate(value(text))
    assert accepts(value(text))


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("id", "Not An Id"), ("id", None), ("version", []), ("steps", []), ("steps", None), ("steps", {}),
        ("inputs", []), ("inputs", {"a": {"type": "text"}}), ("inputs", {"a": {}}), ("unknown", 1),
        ("outputs", {"a": {"type": "string", "requird": True}}), ("description", {}),
    ],
)  # fmt: skip
def test_both_refuse_a_wrong_file(key: str, wrong: Any) -> None:
    document = {**value(FULL), key: wrong}
    assert not is_valid(document)
    assert not accepts(document)


STEP = {"id": "a", "uses": "a.b"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""}, {"uses": "A"}, {"uses": "skill:a/b"}, {"input": []}, {"output": {"x": "inputs.y"}},
        {"output": {"x": None}}, {"timeout_seconds": 3}, {"input_mapping": {}}, {"config": {"timeout_seconds": 0}},
        {"config": {"timeout_seconds": 86_401}}, {"config": {"depends_on": None}}, {"config": {"retry": {"x": 1}}},
        {"config": {"retry": {"max_attempts": 21}}}, {"config": {"scatter": {"capabilities": ["a.b"]}}},
        {"config": {"router": {"on": "vars.x", "cases": {}}}}, {"config": {"while": {"max_iterations": 3}}},
        {"config": {"foreach": {"as": "x"}}}, {"config": {"merge_strategy": "x"}},
        {"config": {"approvers": {"roles": ["boss"]}}}, {"config": {"approvers": {"count": 0}}},
        {"config": {"expires_seconds": 0.5}}, {"config": {"on_deny": []}}, {"config": {"condition": {}}},
    ],
)  # fmt: skip
def test_both_refuse_a_wrong_step(wrong: dict[str, Any]) -> None:
    document = {"id": "a", "version": "1", "steps": [STEP | wrong]}
    assert not is_valid(document)
    assert not accepts(document)
    assert is_valid({**document, "steps": [STEP]})


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(each for key, item in inner for each in places(item, (*path, key)))]


def changed(document: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    if not path:
        return wrong
    result = parent = copy.deepcopy(document)
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = wrong
    return result


WRONG = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.5, 100_000, "", "a", "a b", "A.B", "vars.x", "vars", "_scatter", "skill:a", [],
     ["a"], ["a.b", "c.d"], [None], [1], {}, {"a": "b"}, {"a": 1}, {"a": None}, {"type": "string"}, {"id": "a"},
     "x" * 5_000]
)  # fmt: skip


@given(st.sampled_from([value(FULL), value(GOOD)]), st.data())
def test_whatever_the_schema_refuses_the_parser_refuses(document: Any, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(document)))
        document = changed(document, path, data.draw(WRONG))
    assert is_valid(document) or not accepts(document)


@given(st.sampled_from([value(FULL), value(GOOD)]), st.data())
def test_both_refuse_a_key_that_is_not_known(document: Any, data: st.DataObject) -> None:
    owners = [path for path in places(document) if is_closed(document, path)]
    path = data.draw(st.sampled_from(owners))
    document = changed(document, (*path, "unknown_key"), data.draw(WRONG))
    assert not is_valid(document)
    assert not accepts(document)


def is_closed(document: Any, path: tuple[Any, ...]) -> bool:
    """Return whether a map has fixed keys: not the names of fields, inputs, outputs and cases."""
    for key in path:
        document = document[key]
    free = any(key in ("input", "output", "cases", "default") for key in path) or path in (("inputs",), ("outputs",))
    return isinstance(document, dict) and not free
