"""All built-in capabilities: their definitions, their page in the documents, and their behaviour for any input."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings as site
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core import roles
from registry.core.workflows.builtins import definition
from registry.core.workflows.builtins.catalogue import BUILTINS, HUMAN
from registry.core.workflows.capability import BUILTIN, Safety
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import Field, Json, digest, fits
from tests import effort
from tests.core.workflows.builtins.calls import World, call, refused

PAGE = (Path(site.BASE_DIR) / "docs" / "capabilities.md").read_text().partition("## Register a capability")[0]
WORLDLY = {"date.now", "control.sleep", *HUMAN}
CONTRACTS = {
    "text.template": ({"template", "variables"}, {"text"}),
    "data.echo": ({"value"}, {"value"}),
    "control.sleep": ({"seconds"}, {"slept"}),
    "control.fail": ({"message"}, set()),
    "security.secrets.detect": ({"text"}, {"allowed", "reason", "findings"}),
    "security.pii.detect": ({"text", "kinds"}, {"allowed", "reason", "findings", "contains_pii"}),
    "human.input": ({"question", "fields", "help"}, {"values"}),
    "human.approve": ({"question", "details"}, {"approved", "comment", "by"}),
}

# Texts that mean something to one of the capabilities, beside random ones.
_WORDS = (
    "", "a", "a.b", "a..b", "0", "x.0.y", "{{a}}", "{{item}} {{index}}", "{{", "}}", "(a+)+", "a+b", "(?P<n>a)|b",
    "[[a]", "[a--b]", "(", "item > 1", "item.a == 'x'", "inputs.a", "len(item)", "a + 1", "1 / 0", "(1 + 2) * 3",
    "1e9", "-", "--1", "2026-11-18", "2026-11-18T09:30:00Z", "2026-11-18T09:30", "0001-01-01T00:00:00+23:59",
    "9999-12-31", "18.11.2026", "iso", "dmy", "mdy", "ymd", "long", "lower", "slug", "title", "half-up", "down",
    '{"a": [1, null]}', "[1e999]", "NaN", "a,b\n1,2\n", 'a,"b', "\0", "\ud800", "İ", "ﷺ", "email", "a@b.example",
    "+49 30 123456", ",", ";", "٣", "²",
)  # fmt: skip


def _objects(values: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.dictionaries(st.sampled_from(["a", "b", "0", "x.0", ""]) | _texts, values, max_size=4)


_texts = st.sampled_from(_WORDS) | st.text(st.characters(exclude_categories=()), max_size=12)
_integers = st.integers(-5, 5) | st.integers(-(10**40), 10**40) | st.sampled_from([10**400, 2**5_000])
_numbers = _integers | st.floats()
_scalars = st.none() | st.booleans() | _numbers | _texts
_values = st.recursive(_scalars, lambda inner: st.lists(inner, max_size=4) | _objects(inner), max_leaves=8)


_TYPES = {
    "": _values,
    "string": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": st.booleans(),
    "object": _objects(_values) | _objects(_texts),
    "array": st.lists(_values, max_size=5) | st.lists(_texts, max_size=5) | st.lists(_numbers, max_size=5),
}


def _inputs(fields: dict[str, Field]) -> st.SearchStrategy[dict[str, Json]]:
    required = {name: _TYPES[field.type] for name, field in fields.items() if field.required}
    return st.fixed_dictionaries(required, optional={n: _TYPES[f.type] for n, f in fields.items() if not f.required})


@pytest.mark.parametrize("id_", BUILTINS)
@settings(max_examples=effort.examples(60))
@given(data=st.data())
def test_any_input_of_the_declared_types_gives_declared_outputs_or_a_failure(id_: str, data: st.DataObject) -> None:
    capability = BUILTINS[id_].capability
    inputs = data.draw(_inputs(dict(capability.inputs)))
    before = repr(inputs)
    try:
        outputs = BUILTINS[id_].run(inputs, World())
    except StepFailed as failed:
        assert failed.failure.code == Code.CALL
        assert re.search(r"[.?!”…)]\Z", failed.failure.message) or id_ == "control.fail"
    else:
        assert outputs.keys() <= capability.outputs.keys()
        for name, field in capability.outputs.items():
            assert name in outputs or not field.required
            assert name not in outputs or fits(outputs[name], field.type), name
        json.dumps(outputs, allow_nan=False)
    assert repr(inputs) == before


def test_there_are_at_least_25_built_in_capabilities() -> None:
    assert len(BUILTINS) >= 25


@pytest.mark.parametrize("id_", CONTRACTS)
def test_the_fields_of_a_contract_do_not_change(id_: str) -> None:
    capability = BUILTINS[id_].capability
    assert (set(capability.inputs), set(capability.outputs)) == CONTRACTS[id_]


@pytest.mark.parametrize("id_", BUILTINS)
def test_a_definition_is_complete(id_: str) -> None:
    capability = BUILTINS[id_].capability
    assert capability.id == id_
    assert re.fullmatch(r"[a-z0-9]+([._-][a-z0-9]+)*", id_)
    assert capability.binding == {"kind": BUILTIN, "function": id_}
    assert re.search(r"[^.]\.\Z", capability.description)
    fields = [*capability.inputs.values(), *capability.outputs.values()]
    assert all(re.search(r"[^.]\.\Z", field.description) for field in fields)
    assert all(fits(field.default, field.type) for field in fields if field.has_default)
    assert capability.hints.produces.keys() <= capability.outputs.keys()


@pytest.mark.parametrize("id_", BUILTINS)
def test_a_built_in_capability_changes_nothing(id_: str) -> None:
    properties = BUILTINS[id_].capability.properties
    assert (properties.side_effects, properties.idempotent) == (False, True)
    assert properties.deterministic is (id_ not in WORLDLY)


@pytest.mark.parametrize("id_", BUILTINS)
def test_an_agent_that_nobody_trusts_can_use_what_is_built_in(id_: str) -> None:
    assert BUILTINS[id_].capability.safety == Safety(roles.SANDBOX)


def test_the_digest_is_that_of_the_document_and_names_one_definition() -> None:
    capabilities = [builtin.capability for builtin in BUILTINS.values()]
    assert all(capability.digest == digest(capability.document) for capability in capabilities)
    assert len({capability.digest for capability in capabilities}) == len(BUILTINS)


def test_the_document_has_everything_that_the_definition_says() -> None:
    assert BUILTINS["data.split"].capability.document == {
        "id": "data.split",
        "version": "1.0.0",
        "description": "Splits a text into a list.",
        "inputs": {
            "text": {"type": "string", "required": True, "description": "The text."},
            "separator": {
                "type": "string", "required": False, "description": "The text between the parts.", "default": ",",
            },
            "tidy": {
                "type": "boolean", "required": False, "default": True,
                "description": "Whether spaces around the parts and empty parts are removed.",
            },
        },
        "outputs": {"items": {"type": "array", "required": True, "description": "The parts."}},
        "properties": {"side_effects": False, "idempotent": True, "deterministic": True},
        "safety": {"trust_level": "sandbox", "requires_confirmation": False},
        "cognitive_hints": {"role": [], "consumes": [], "produces": {}},
        "binding": {"kind": "builtin", "function": "data.split"},
    }  # fmt: skip


def _row(id_: str) -> str:
    def names(fields: object) -> str:
        return ", ".join(f"`{f.name}{'' if f.required else '?'}`" for f in fields) or "–"  # type: ignore[attr-defined]

    capability = BUILTINS[id_].capability
    takes, gives = names(capability.inputs.values()), names(capability.outputs.values())
    return f"| `{id_}` | {takes} | {gives} | {capability.description} |"


def test_the_page_lists_exactly_the_built_in_capabilities() -> None:
    listed = re.findall(r"^\| `.*", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(map(_row, BUILTINS))


@pytest.mark.parametrize(
    "declaration", ["text", "text: text", "text : string", "text: string = oops nothing", "?: any"]
)
def test_a_wrong_declaration_of_a_field_is_refused(declaration: str) -> None:
    with pytest.raises(ValueError, match="is not the declaration of a field"):
        definition.define("a.b", lambda given: given, "Does it.", {declaration: "A field."}, {})


def test_null_for_an_input_is_the_default() -> None:
    assert call("data.join", items=["a", "b"], separator=None) == {"text": "a, b"}


def _nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


def test_values_may_be_nested_to_a_limit_only() -> None:
    assert call("data.echo", value=_nested(63)) == {"value": _nested(63)}
    assert refused("data.echo", value=_nested(64)) == "The input is nested more than 64 levels deep."
    assert "64 levels" in refused("data.echo", value=_nested(100_000))
    assert "64 levels" in refused("json.parse", text="[" * 80 + "]" * 80)


def test_values_larger_than_1_mib_are_refused() -> None:
    most = definition.MOST_BYTES - len('{"value":""}')
    assert call("data.echo", value="a" * most)["value"] == "a" * most
    assert "larger than 1 MiB" in refused("data.echo", value="a" * (most + 1))
    assert "larger than 1 MiB" in refused("data.echo", value="é" * (most // 2 + 1))
    assert "larger than 1 MiB" in refused("data.echo", value=[0] * most)
    assert "larger than 1 MiB" in refused("data.echo", value={"a" * most: 1})


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), [10**2_000], {"a": -(10**2_000)}])
def test_numbers_that_json_cannot_carry_are_refused(value: Json) -> None:
    assert "a number" in refused("data.echo", value=value)
