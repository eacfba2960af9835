"""The JSON Schema of capability files agrees with the parser."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from registry.core.workflows import capability_schema, capability_yaml, documents
from registry.core.workflows.capability import BINDINGS
from tests.core.workflows.definitions import LEDGER, text

VALIDATOR = Draft202012Validator(capability_schema.schema())
FULL = text(
    inputs="{text: {type: string, required: true, description: The text.}, more: {type: array, default: []}}",
    outputs="{found: {type: array}}", properties="{side_effects: true, idempotent: true, deterministic: false}",
    safety="{trust_level: elevated, requires_confirmation: true, data_classification: pii, reversible: false,"
    " allowed_targets: [internal_only], scope_constraints: [no_credential_passthrough],"
    " mandatory_pre_gates: [security.pii.detect, {capability: data.echo, input: {value: input.text}, on_fail: warn}],"
    " mandatory_post_gates: [], approvers: {people: [ada], roles: [owner], count: 1}}",
    cognitive_hints="{role: [act], consumes: [Risk], produces: {found: {type: Risk, target: working.risks}}}",
    aliases="[test.old]", deprecated="true", replacement="data.echo",
)  # fmt: skip
_BINDINGS = (
    "{kind: skill, name: refunds}",
    "{kind: http, url: 'https://a.example/{id}', method: get, query: {a: [1]}, headers: {X: 1}, body: {a: null},"
    " outputs: {ok: a.b}, timeout_seconds: 3.5, idempotency_header: X-Key}",
    "{kind: mcp, tool: read, command: files, args: [--root, 1], env: {A: b}, arguments: input}",
    "{kind: mcp, tool: read, url: https://a.example, headers: {A: secret:B}, arguments: {a: input.b}}",
    '{kind: llm, prompt: "{{a}}", system: b, json: true, model: c, max_tokens: 5, temperature: 0.5}',
)


def is_valid(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def accepts(document: Any) -> bool:
    """Return whether the parser accepts a JSON value, which is YAML too."""
    return capability_yaml.parse(json.dumps(document)).draft is not None


def value(content: str) -> Any:
    return documents.load(content, file="capability.yaml").value


@pytest.mark.parametrize("content", [FULL, LEDGER, text(binding="", extends="data.echo")])
def test_the_schema_is_valid_and_accepts_full_files(content: str) -> None:
    Draft202012Validator.check_schema(capability_schema.schema())
    VALIDATOR.validate(value(content))
    assert accepts(value(content))


@pytest.mark.parametrize("binding", _BINDINGS)
def test_every_kind_of_binding_is_accepted(binding: str) -> None:
    document = value(text(binding=binding))
    VALIDATOR.validate(document)
    assert accepts(document)


def test_every_kind_of_binding_has_a_form() -> None:
    forms = capability_schema.schema()["$defs"]["binding"]["anyOf"]
    assert {form["properties"]["kind"]["const"] for form in forms if "properties" in form} == set(BINDINGS)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("id", "Not An Id"), ("id", None), ("version", []), ("binding", {}), ("binding", {"kind": "ftp"}),
        ("binding", {"kind": "builtin"}), ("binding", {"kind": "http"}), ("binding", {"kind": "llm", "tool": "a"}),
        ("binding", {"kind": "http", "url": "https://a.example", "method": "BREW"}), ("binding", []),
        ("binding", {"kind": "llm", "prompt": "a", "max_tokens": 0}), ("inputs", []), ("aliases", ["A b"]),
        ("inputs", {"a": {"type": "text"}}), ("unknown", 1), ("deprecated", "yes"), ("replacement", "A b"),
        ("properties", {"sideeffects": True}), ("properties", {"idempotent": "yes"}),
        ("cognitive_hints", {"role": "x"}),
        ("cognitive_hints", {"produces": {"found": "Nothing"}}), ("cognitive_hints", {"consumes": ["Nothing"]}),
        ("safety", {"trust_level": "high"}), ("safety", {"trust": "sandbox"}), ("safety", []),
        ("safety", {"requires_confirmation": 1}), ("safety", {"mandatory_pre_gates": "a.b"}),
        ("safety", {"mandatory_pre_gates": [{"on_fail": "block"}]}), ("safety", {"mandatory_pre_gates": [1]}),
        ("safety", {"mandatory_pre_gates": [{"capability": "a.b", "on_fail": "ignore"}]}),
        ("safety", {"mandatory_post_gates": ["a.b"] * 21}), ("safety", {"allowed_targets": ["anywhere"]}),
        ("safety", {"scope_constraints": ["none"]}), ("safety", {"data_classification": "secret"}),
        ("safety", {"approvers": {"roles": ["boss"]}}), ("safety", {"approvers": {"count": 0}}),
    ],
)  # fmt: skip
def test_both_refuse_a_wrong_file(key: str, wrong: Any) -> None:
    document = {**value(FULL), key: wrong}
    assert not is_valid(document)
    assert not accepts(document)


def test_both_refuse_a_file_without_a_binding() -> None:
    document = value(text(binding=""))
    assert not is_valid(document)
    assert not accepts(document)


_LEAVES = st.sampled_from([None, True, 0, 1.5, "", "text", "a.b", [], {}, ["a.b"], {"a": "b"}, [[]], "block", "string"])


@given(st.data())
def test_the_schema_refuses_nothing_that_the_parser_accepts(data: st.DataObject) -> None:
    """Change one value anywhere in a full file."""
    document = copy.deepcopy(value(data.draw(st.sampled_from([FULL, LEDGER, text(binding=_BINDINGS[1])]))))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(_LEAVES)
        break
    if accepts(document):
        VALIDATOR.validate(document)
