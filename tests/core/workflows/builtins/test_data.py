"""Built-in capabilities for objects, lists and numbers."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import effort
from tests.core.workflows.builtins.calls import call, refused

ORDER: dict[str, Any] = {"id": 7, "customer": {"name": "Anna"}, "lines": [{"sum": 2.5}, {"sum": 4}]}


def test_values_are_read_by_path() -> None:
    assert call("data.get", value=ORDER, path="lines.1.sum") == {"value": 4, "found": True}
    assert call("data.get", value=ORDER, path="lines.2.sum", default=0) == {"value": 0, "found": False}
    assert call("data.get", value=5, path="a") == {"value": None, "found": False}
    assert call("data.get", value={"a": None}, path="a", default=1) == {"value": None, "found": True}
    assert call("data.pick", value=ORDER, fields=["id", "customer.name"])["value"] == {"id": 7, "customer.name": "Anna"}
    assert call("data.rename", value=ORDER, fields={"who": "customer.name"})["value"] == {"who": "Anna"}
    assert call("data.omit", value=ORDER, fields=["lines", "customer", "other"])["value"] == {"id": 7}


def test_objects_are_merged() -> None:
    base, changes = {"a": {"x": 1}, "b": 1}, {"a": {"y": 2}, "b": [2]}
    assert call("data.merge", base=base, changes=changes)["value"] == {"a": {"y": 2}, "b": [2]}
    assert call("data.merge", base=base, changes=changes, deep=True)["value"] == {"a": {"x": 1, "y": 2}, "b": [2]}
    assert base == {"a": {"x": 1}, "b": 1}


def test_paths_that_cannot_be_read_are_refused() -> None:
    assert "The object has no “customer.city”" in refused("data.pick", value=ORDER, fields=["customer.city"])
    assert "Every entry of the list of paths" in refused("data.pick", value=ORDER, fields=[1])
    assert "of type integer" in refused("data.rename", value=ORDER, fields={"a": 1})
    assert "“a..b” is not a path" in refused("data.get", value=ORDER, path="a..b")
    assert "is not a path" in refused("data.get", value=ORDER, path="a" * 501)
    assert "101 paths" in refused("data.pick", value=ORDER, fields=[str(number) for number in range(101)])
    assert "name of a field" in refused("data.omit", value=ORDER, fields=[None])


def test_values_are_compared_with_the_places_where_they_differ() -> None:
    compared = call("compare.values", left={"a": 1, "b": [1, {"c": "x"}]}, right={"b": [1, {"c": "y"}], "d": None})
    assert compared["equal"] is False
    assert {(entry["path"], entry["change"]) for entry in compared["differences"]} == {
        ("a", "removed"), ("d", "added"), ("b.1.c", "changed"),
    }  # fmt: skip
    assert call("compare.values", left=True, right=1)["equal"] is False
    assert call("compare.values", left=[1], right=[1, 2])["differences"] == [{"path": "", "change": "changed"}]
    assert len(call("compare.values", left=list(range(500)), right=[None] * 500)["differences"]) == 100


@settings(max_examples=effort.examples(50))
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=6))
def test_every_value_equals_itself(value: Any) -> None:
    assert call("compare.values", left=value, right=value) == {"equal": True, "differences": []}


def test_lists_are_mapped() -> None:
    items = [{"name": "Anna", "n": 1}, {"name": "Ben", "n": 2}]
    assert call("data.map", items=items, template="{{index}}: {{item.name}}")["items"] == ["0: Anna", "1: Ben"]
    assert call("data.map", items=items, fields={"who": "name"})["items"] == [{"who": "Anna"}, {"who": "Ben"}]
    assert call("data.map", items=items, path="n")["items"] == [1, 2]
    assert "exactly one of" in refused("data.map", items=items)
    assert "exactly one of" in refused("data.map", items=items, template="", path="n")
    assert "Item 1 has no “n”" in refused("data.map", items=[{"n": 1}, {}], path="n")
    assert "no “item.city”" in refused("data.map", items=items, template="{{item.city}}")
    assert "larger than 1 MiB" in refused("data.map", items=["a" * 1_000] * 500, template="{{item}}{{item}}{{item}}")


def test_lists_are_filtered_by_an_expression() -> None:
    items = [{"n": 1}, {"n": -5}, {}, {"n": 9}]
    assert call("data.filter", items=items, where="item.n > -1") == {"items": [{"n": 1}, {"n": 9}], "removed": 2}
    assert call("data.filter", items=items, where="index < variables.most", variables={"most": 1})["items"] == [
        {"n": 1}
    ]
    assert "“where” reads inputs, but can only read item" in refused(
        "data.filter", items=items, where="item.n > inputs.n"
    )
    assert "“where” cannot be used" in refused("data.filter", items=[], where="item.n >")
    assert "too long for this many items" in refused(
        "data.filter", items=[1] * 20_000, where="item " + "== 1 or item " * 9
    )


def test_lists_are_sorted_with_missing_values_last() -> None:
    items = [{"n": 2}, {"n": None}, {"n": 1.5}, {}, {"n": 10}]
    assert call("data.sort", items=items, by="n")["items"] == [{"n": 1.5}, {"n": 2}, {"n": 10}, {"n": None}, {}]
    assert call("data.sort", items=items, by="n", descending=True)["items"][0] == {"n": 10}
    assert call("data.sort", items=["b", 1, True, [2], [1]])["items"] == [True, 1, "b", [1], [2]]


def test_equal_items_are_grouped_and_removed() -> None:
    items = [{"a": 1, "b": 1}, {"a": 2}, {"a": 1, "b": 2}]
    groups = call("data.group", items=items, by="a")["groups"]
    assert [(group["key"], group["count"]) for group in groups] == [(1, 2), (2, 1)]
    assert groups[0]["items"] == [items[0], items[2]]
    assert call("data.unique", items=items, by="a") == {"items": items[:2], "removed": 1}
    assert call("data.unique", items=[1, "1", 1, True]) == {"items": [1, "1", True], "removed": 1}


def test_lists_are_joined_split_counted_and_cut() -> None:
    assert call("data.join", items=["a", 1, None]) == {"text": "a, 1, null"}
    assert call("data.split", text=" a, ,b ") == {"items": ["a", "b"]}
    assert call("data.split", text=" a, ,b ", tidy=False) == {"items": [" a", " ", "b "]}
    assert call("data.count", items=[]) == {"count": 0, "empty": True}
    assert call("data.slice", items=[1, 2, 3, 4], start=1, count=2) == {"items": [2, 3]}
    assert call("data.slice", items=[1], start=5) == {"items": []}
    assert call("data.flatten", items=[[1], 2, [[3]]]) == {"items": [1, 2, [3]]}
    assert "“separator” is empty" in refused("data.split", text="a", separator="")
    assert "more than 100,000 parts" in refused("data.split", text="," * 100_000)
    assert "cannot be negative" in refused("data.slice", items=[], start=-1)
    assert "20,001 entries" in refused("data.sort", items=[1] * 20_001)
    assert "larger than 1 MiB" in refused("data.join", items=[1] * 20_000, separator="-" * 100)


def test_numbers_are_summed_as_decimals() -> None:
    assert call("data.statistics", items=[0.1, 0.2, 0.3]) == {
        "count": 3, "sum": 0.6, "mean": 0.2, "median": 0.2, "minimum": 0.1, "maximum": 0.3,
    }  # fmt: skip
    assert call("data.statistics", items=[{"n": 1}, {"n": 4}], by="n")["median"] == 2.5
    assert call("data.statistics", items=[]) == {"count": 0, "sum": 0}
    assert "item 1 must be a number, but it is of type string" in refused("data.statistics", items=[1, "2"])
    assert "type boolean" in refused("data.statistics", items=[True])
    assert "300 digits" in refused("data.statistics", items=[10**299] * 10)


@pytest.mark.parametrize(
    ("value", "places", "rounding", "result"),
    [
        (2.675, 2, "half-up", 2.68), (2.5, 0, "half-even", 2), (-2.5, 0, "half-up", -3), (2.1, 0, "up", 3),
        (2.9, 0, "down", 2), (1e200, 2, "half-up", 1e200), (5, 3, "up", 5), (10**40 + 1, 0, "up", 10**40 + 1),
    ],
)  # fmt: skip
def test_numbers_are_rounded(value: float, places: int, rounding: str, result: float) -> None:
    assert call("number.round", value=value, places=places, rounding=rounding) == {"value": result}


def test_wrong_roundings_are_refused() -> None:
    assert "one of half-up" in refused("number.round", value=1, rounding="nearest")
    assert "between 0 and 20" in refused("number.round", value=1, places=21)
    assert "between 0 and 20" in refused("number.round", value=1, places=-1)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1 + 0.2", 0.3), ("(a + b.c) * 2", 7), ("-a", -1), ("--a", 1), ("2 - -3", 5), ("2 * 3 + 4 / 8", 6.5),
        ("10 / 4", 2.5), ("7 - 2 - 1", 4), ("8 / 2 / 2", 2), ("list.0", 5), ("1000000000000 * 1000000000000", 10**24),
    ],
)  # fmt: skip
def test_calculations(expression: str, value: float) -> None:
    variables = {"a": 1, "b": {"c": 2.5}, "list": [5]}
    assert call("number.calculate", expression=expression, variables=variables) == {"value": value}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "ends where a number"), ("1 +", "ends where a number"), ("(1", "“(” without “)”"), ("1)", "from “)” on"),
        ("1 2", "from “2” on"), ("* 2", "“*” where a number"), ("1 / 0", "divides by zero"), ("0 / 0", "zero by zero"),
        ("x + 1", "“x”, but there is no such variable"), ("s + 1", "type string"), ("t * 2", "type boolean"),
        ("2 ** 3", "“*” where a number"), ("2 ^ 3", "cannot be read at “^ 3”"), ("1e5", "cannot be read at"),
        ("1.2.3", "cannot be read at"), (".5", "cannot be read at"), ("a(1)", "from “(” on"),
        ("9" * 101, "cannot be read"),
        ("(" * 60 + "1" + ")" * 60, "inside each other"), ("-" * 60 + "1", "inside each other"),
        ("*".join(["9" * 99] * 4), "too large"), ("1" * 2_001, "2,001 characters"),
        ("__import__('os')", "cannot be read at"),
    ],
)  # fmt: skip
def test_calculations_that_cannot_be_read_or_done_are_refused(expression: str, message: str) -> None:
    assert message in refused("number.calculate", expression=expression, variables={"a": 1, "s": "1", "t": True})


_calculations = st.recursive(
    st.integers(0, 99).map(str),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner) | inner.map("-{}".format),
    max_leaves=8,
)


@settings(max_examples=effort.examples(80))
@given(_calculations)
def test_a_calculation_is_that_of_python(expression: str) -> None:
    try:
        exact = Fraction(eval(expression.replace("/", "/ Fraction(1) /"), {"Fraction": Fraction}))  # noqa: S307
    except ZeroDivisionError:
        assert "zero" in refused("number.calculate", expression=expression)
    else:
        assert call("number.calculate", expression=expression)["value"] == pytest.approx(
            float(exact), rel=1e-12, abs=1e-12
        )
