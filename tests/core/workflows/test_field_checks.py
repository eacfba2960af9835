"""Checks of inputs and outputs against their fields: defaults, types, unknown names, and messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.field_checks import MOST_PROBLEMS, check_inputs, check_outputs
from registry.core.workflows.values import TYPES, Field, Fields, fits

WHAT = "the workflow review"
FIELDS: Fields = {
    "text": Field("text", "string", required=True),
    "limit": Field("limit", "integer", default=10, has_default=True),
    "tags": Field("tags", "array", default=["a"], has_default=True),
    "note": Field("note", "string"),
    "anything": Field("anything", ""),
}


def refusal(values: Any, fields: Fields = FIELDS) -> str:
    with pytest.raises(StepFailed) as caught:
        check_inputs(fields, values, what=WHAT)
    assert caught.value.failure.code == Code.INPUT
    return caught.value.failure.message


def test_missing_inputs_get_their_default() -> None:
    assert check_inputs(FIELDS, {"text": "a"}, what=WHAT) == {"text": "a", "limit": 10, "tags": ["a"]}


def test_null_counts_as_missing() -> None:
    assert check_inputs(FIELDS, {"text": "a", "limit": None, "note": None}, what=WHAT)["limit"] == 10
    assert "note" not in check_inputs(FIELDS, {"text": "a", "note": None}, what=WHAT)
    assert "“text” is missing" in refusal({"text": None})


def test_a_field_of_any_type_takes_every_value_and_null() -> None:
    required = {"value": Field("value", "", required=True)}
    for value in (None, 1, "a", [], {}):
        assert check_inputs(required, {"value": value}, what=WHAT) == {"value": value}
    assert refusal({}, required) == "The input of the workflow review is wrong: “value” is missing."


def test_a_default_is_not_shared_between_runs() -> None:
    check_inputs(FIELDS, {"text": "a"}, what=WHAT)["tags"].append("b")
    assert check_inputs(FIELDS, {"text": "a"}, what=WHAT)["tags"] == ["a"]


@pytest.mark.parametrize("value", [1, True, [], {}, 1.5])
def test_a_wrong_type_is_named_with_the_expected_one(value: Any) -> None:
    assert "“text” must be of type string, not " in refusal({"text": value})


def test_a_boolean_is_no_integer() -> None:
    assert "“limit” must be of type integer, not boolean" in refusal({"text": "a", "limit": True})


@pytest.mark.parametrize("values", [None, [], "text", 3, {1: 2}])
def test_only_an_object_is_an_input(values: Any) -> None:
    assert "must be an object" in refusal(values)


def test_an_unknown_field_is_refused_with_the_nearest_name() -> None:
    message = refusal({"text": "a", "limmit": 3})
    assert message == "The input of the workflow review is wrong: “limmit” is not a field (did you mean “limit”?)."
    assert "did you mean" not in refusal({"text": "a", "zzzzzzzz": 3})


def test_all_problems_are_in_one_message_up_to_five() -> None:
    message = refusal({"x1": 1, "x2": 2, "limit": "a", "tags": 1})
    assert message.count(";") == MOST_PROBLEMS - 1
    message = refusal({f"x{number}": 1 for number in range(1_000)})
    assert message.count(";") == MOST_PROBLEMS - 1
    assert message.endswith(", and 996 more.")


def test_a_long_or_unprintable_name_is_cut_and_made_visible() -> None:
    message = refusal({"text": "a", "x" * 10_000: 1, "a\nb": 1})
    assert len(message) < 300
    assert "\n" not in message


def test_a_required_output_must_exist_and_have_its_type() -> None:
    fields = {"ok": Field("ok", "boolean", required=True), "id": Field("id", "string")}
    for values in ({}, {"ok": None}, {"ok": "yes"}, {"ok": 1}, {"ok": True, "id": 3}, [], None):
        with pytest.raises(StepFailed) as caught:
            check_outputs(fields, values, what=WHAT)
        assert caught.value.failure.code == Code.OUTPUT


def test_undeclared_outputs_and_empty_optional_ones_are_kept() -> None:
    fields = {"ok": Field("ok", "boolean", required=True), "id": Field("id", "string")}
    values = {"ok": True, "id": None, "more": {"a": 1}}
    assert check_outputs(fields, values, what=WHAT) == values


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["a", "b", "c", "d"])
DECLARED = st.dictionaries(NAMES, st.tuples(st.sampled_from(("", *TYPES)), st.booleans()))


@given(DECLARED, st.dictionaries(NAMES, JSON))
def test_accepted_inputs_have_every_required_field_and_only_declared_types(
    declared: dict[str, tuple[str, bool]], values: dict[str, Any]
) -> None:
    fields = {name: Field(name, type_, required) for name, (type_, required) in declared.items()}
    try:
        accepted = check_inputs(fields, values, what=WHAT)
    except StepFailed as error:
        assert error.failure.code == Code.INPUT
        return
    assert set(accepted) <= set(fields)
    assert {name for name, field in fields.items() if field.required} <= set(accepted)
    assert all(not fields[name].type or fits(value, fields[name].type) for name, value in accepted.items())
    assert all(values[name] == value for name, value in accepted.items())
