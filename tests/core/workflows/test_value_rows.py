"""Values as rows of a table, and the differences between two values."""

from itertools import islice
from typing import Any

import pytest
from hypothesis import given

from registry.core.workflows.value_rows import MOST_CHANGES, MOST_COMPARED, value_changes, value_rows
from tests.core.workflows.json_values import json_values
from tests.cpu import within


def paths(value: Any) -> list[str]:
    return [row.path for row in value_rows(value)]


def test_each_scalar_and_each_empty_container_is_a_row() -> None:
    value = {"a": {"b": [1, {"c": None}], "d": {}}, "e": [], "f": ""}
    assert [(row.path, row.value) for row in value_rows(value)] == [
        ("a.b[0]", 1), ("a.b[1].c", None), ("a.d", {}), ("e", []), ("f", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("value", [1, None, "text", [], {}])
def test_a_value_without_containers_is_one_row(value: Any) -> None:
    assert [(row.path, row.value) for row in value_rows(value, "value")] == [("value", value)]


def test_a_key_that_looks_like_a_path_is_in_quotes() -> None:
    assert paths({"a.b": 1, "a": {"b": 2}, "c[0]": 3, "": 4, "é": 5}) == ['["a.b"]', "a.b", '["c[0]"]', '[""]', '["é"]']


def test_long_keys_that_start_alike_stay_apart() -> None:
    first, second = paths({"k" * 500 + "1": 1, "k" * 500 + "2": 2})
    assert first != second
    assert len(first) < 120


@given(json_values)
def test_rows_have_different_paths_and_a_value_equals_itself(value: Any) -> None:
    found = paths(value)
    assert len(found) == len(set(found))
    assert value_changes(value, value) == ([], 0)


def test_differences_name_what_was_added_removed_and_changed() -> None:
    found, count = value_changes({"a": 1, "b": "x", "c": [1]}, {"a": 2, "c": [1, 2], "d": None})
    assert count == 4
    assert [(each.path, each.before and each.before.value, each.after and each.after.value) for each in found] == [
        ("a", 1, 2), ("b", "x", None), ("c[1]", None, 2), ("d", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, ""), ({}, [])])
def test_values_of_different_types_differ(one: Any, other: Any) -> None:
    assert value_changes({"a": one}, {"a": other})[1] == 1


def test_differences_are_bounded() -> None:
    found, count = value_changes([0] * 300_000, [1] * 300_000)
    assert (len(found), count) == (MOST_CHANGES, MOST_COMPARED)


def test_the_first_rows_of_a_large_value_cost_little() -> None:
    value: Any = [0] * 100_000
    for _ in range(90):
        value = {"k" * 5_000: value}
    rows = within(0.2, lambda: list(islice(value_rows(value), 300)))
    assert len(rows) == 300
    assert max(len(row.path) for row in rows) < 600
