"""References: texts that are one, texts that are not, and the values that they name."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.workflows import copies, references
from registry.core.workflows.copies import CopyTooLarge
from registry.core.workflows.references import NAMESPACES, Missing, Path, Unreadable, parse, resolve, show, walk
from tests import cpu
from tests.core.workflows.json_values import json_values

TEXTS = [
    "", " ", ".", "inputs", "vars", "frame", "output", "inputs.", ".inputs", "inputs. This is text", "e.g. hello",
    "See inputs.name", "inputs.name.", "inputs.name ", " inputs.name", "inputs.name\n", "inputs..name", "Inputs.name",
    "input.name", "item", "item.id", "items[0]", "vars[]", "vars[x]", "vars.items[*]", "vars.items[0", "vars.items]0[",
    "vars.items[0]name", "vars.items[1.5]", "vars.items[+1]", "vars.items[ 0 ]", "vars.items.*", "vars.**", "vars*",
    "vars['a]", "vars[a']", "vars['a\"]", r"vars['a\']", r"vars['\d']", "vars.größe", "vars.a b", "vars.a/b",
    "{{inputs.name}}", "${inputs.name}", "$inputs.name", "trace.steps", "https://example.com/a.b", "vars.\0",
    "inputs." + "a" * 1_000, "vars" + ".a" * 500,
]  # fmt: skip

PATHS = [
    ("inputs.name", ("inputs", "name")),
    ("vars.items.0", ("vars", "items", "0")),
    ("vars.items.-1.id", ("vars", "items", "-1", "id")),
    ("vars.items[0].name", ("vars", "items", "0", "name")),
    ("vars.items[-1][2]", ("vars", "items", "-1", "2")),
    ("vars.2nd-item_x", ("vars", "2nd-item_x")),
    ("outputs.report", ("outputs", "report")),
    ("frame.context.team", ("frame", "context", "team")),
    ("working.artifacts.x", ("working", "artifacts", "x")),
    ("output.summary", ("output", "summary")),
    ("extensions.a", ("extensions", "a")),
    ("inputs.*", ("inputs",)),
    ("vars.found['text.template'].text", ("vars", "found", "text.template", "text")),
    ('vars["a b"]["é"]', ("vars", "a b", "é")),
    (r"vars['it\'s \\ \"x\"\n']", ("vars", 'it\'s \\ "x"\n')),
    ("vars['']", ("vars", "")),
    ("vars" + ".a" * 498, ("vars", *"a" * 498)),
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_is_no_reference_stays_text(text: str) -> None:
    assert parse(text) is None
    assert resolve({"a": text}, unreadable, {}) == {"a": text}


@pytest.mark.parametrize(("text", "path"), PATHS)
def test_a_reference_is_a_path(text: str, path: Path) -> None:
    assert parse(text) == path


def test_every_namespace_can_be_read() -> None:
    assert [parse(f"{name}.x") for name in NAMESPACES] == [(name, "x") for name in NAMESPACES]


@pytest.mark.parametrize(
    ("text", "path"), [("item", ("item",)), ("item.*", ("item",)), ("item[0].id", ("item", "0", "id"))]
)
def test_a_local_name_is_a_reference_alone(text: str, path: Path) -> None:
    assert parse(text, {"item", "index"}) == path
    assert parse(text, {"index"}) is None


def test_a_local_name_wins_over_a_namespace() -> None:
    assert parse("output", ("output",)) == ("output",)
    assert resolve("output.text", unreadable, {"output": {"text": "local"}}) == "local"


@given(st.sampled_from([*NAMESPACES, "item"]), st.lists(st.text(max_size=20), max_size=5))
def test_the_text_of_a_path_is_parsed_to_the_same_path(root: str, parts: list[str]) -> None:
    assert parse(show((root, *parts)), {"item"}) == (root, *parts)


@given(st.text(st.sampled_from("inputsvars.*[]0-1'\"\\n e"), max_size=30))
def test_what_is_parsed_is_shown_and_parsed_again(text: str) -> None:
    path = parse(f"vars{text}")
    assert path is None or parse(show(path)) == path


@pytest.mark.parametrize("text", ["vars.items[*]", "inputs.first..name", "inputs.", "vars.größe", "vars.a.", "item[x]"])
def test_text_that_was_meant_as_a_reference_is_recognised(text: str) -> None:
    assert references.resembles(text, ("item",))


@pytest.mark.parametrize("text", ["vars.a", "item", "vars", "vars. a", "e.g.", "input.x", "", "other[x]", "item[0]"])
def test_other_text_was_not_meant_as_a_reference(text: str) -> None:
    assert not references.resembles(text, ("item",))


STATE = {"items": [{"id": 7}, [1, 2]], "total": 5, "none": None, "name": "Ann", "empty": {}, "no": [], "0": "key"}

MISSING = [
    (("nam",), "vars has no “nam”. It has the keys items, total, none, name, empty, no, 0."),
    (("empty", "x"), "vars.empty has no “x”. It is empty."),
    (("items", "2"), "vars.items has no item 2. It has 2 items."),
    (("items", "-3"), "vars.items has no item -3. It has 2 items."),
    (("items", "1", "2"), "vars.items.1 has no item 2. It has 2 items."),
    (("no", "0"), "vars.no has no item 0. It is an empty list."),
    (("items", "id"), "vars.items has no “id”. It is a list, so write the number of an item, such as 0, or -1"),
    (("items", "1.0"), "vars.items has no “1.0”. It is a list"),
    (("items", "1" * 5_000), "vars.items has no “1111"),
    (("items", "٠"), "vars.items has no “٠”. It is a list"),  # a digit of another script
    (("total", "x"), "vars.total has no “x”, because it is of type integer."),
    (("none", "x"), "vars.none has no “x”, because it is null."),
    (("name", "0"), "vars.name has no “0”, because it is of type string."),
    (("items", "0", "id", "x"), "vars.items.0.id has no “x”, because it is of type integer."),
]


@pytest.mark.parametrize(("path", "message"), MISSING)
def test_a_missing_part_is_named_with_what_exists(path: Path, message: str) -> None:
    with pytest.raises(Missing) as error:
        walk(STATE, path, ("vars",))
    assert str(error.value).startswith(message)
    assert len(str(error.value)) < 400


def test_only_some_keys_are_named_and_only_their_start() -> None:
    with pytest.raises(Missing) as error:
        walk({f"{number}\n" + "x" * 10_000: 1 for number in range(2_000)}, ("a" * 10_000,))
    assert str(error.value).endswith("and 1,992 more.")
    assert str(error.value).startswith("The value has no “aaaa")
    assert len(str(error.value)) < 600
    assert "\n" not in str(error.value)


@given(json_values)
def test_every_part_of_a_value_is_found(value: Any) -> None:
    parts: list[tuple[Path, Any]] = [((), value)]
    for path, part in parts:
        assert walk(value, path) is part
        if isinstance(part, dict):
            parts.extend(((*path, key), item) for key, item in part.items())
        elif isinstance(part, list):
            parts.extend(((*path, str(index)), item) for index, item in enumerate(part))
            parts.extend(((*path, str(index - len(part))), item) for index, item in enumerate(part))


@given(json_values, st.lists(st.text(max_size=5) | st.integers(-3, 3).map(str), max_size=4).map(tuple))
def test_a_walk_fails_only_with_missing(value: Any, path: Path) -> None:
    try:
        walk(value, path)
    except Missing as error:
        assert str(error)


def unreadable(path: Path) -> Any:
    raise Unreadable(f"{show(path)} cannot be read.")


def reader(state: Mapping[str, Any]) -> references.Read:
    return lambda path: walk(state, path)


def test_references_are_resolved_at_any_depth() -> None:
    template = {"a": "vars.items.0.id", "b": [{"c": "item"}, "vars.name", ["vars.*"]], "d": 5, "vars.name": None}
    assert resolve(template, reader({"vars": {"name": "Ann", "items": [{"id": 7}]}}), {"item": [1]}) == {
        "a": 7,
        "b": [{"c": [1]}, "Ann", [{"name": "Ann", "items": [{"id": 7}]}]],
        "d": 5,
        "vars.name": None,
    }


def test_text_that_was_read_is_never_a_reference() -> None:
    """Otherwise an answer of a model could read any value of the run."""
    state = {"vars": {"a": "vars.secret", "b": {"$literal": "x"}, "c": ["item"], "secret": "s"}}
    assert resolve(["vars.a", "vars.b", "vars.c"], reader(state), {"item": "vars.secret"}) == [
        "vars.secret",
        {"$literal": "x"},
        ["item"],
    ]
    assert resolve("item", reader(state), {"item": "vars.secret"}) == "vars.secret"


def test_a_literal_is_untouched() -> None:
    template = {
        "a": {"$literal": "vars.x"},
        "b": {"$literal": {"$literal": ["item"]}},
        "c": {"$literal": 1, "d": "item"},
    }
    assert resolve(template, unreadable, {"item": 5}) == {
        "a": "vars.x",
        "b": {"$literal": ["item"]},
        "c": {"$literal": 1, "d": 5},
    }


def test_a_failure_names_the_input() -> None:
    with pytest.raises(Unreadable) as error:
        resolve({"data": [{"a.b": "vars.x"}]}, reader({"vars": {"y": 1}}), {})
    assert str(error.value).startswith("The input data.0['a.b'] cannot be read. ")
    assert "has no “x”. It has the keys y." in str(error.value)


def test_a_missing_part_of_a_local_value_is_an_error() -> None:
    with pytest.raises(Missing, match="item has no “name”, because it is null"):
        resolve("item.name", unreadable, {"item": None})


@given(json_values)
def test_a_result_shares_nothing_with_the_state(value: Any) -> None:
    result = resolve({"a": "vars.x", "b": {"$literal": value}}, lambda path: value, {})
    assert result == {"a": value, "b": value}
    if isinstance(value, (dict, list)):
        assert result["a"] is not value
        assert result["b"] is not value
        for inner in value.values() if isinstance(value, dict) else value:
            nested = result["a"].values() if isinstance(value, dict) else result["a"]
            assert not isinstance(inner, (dict, list)) or all(item is not inner for item in nested)


def test_references_are_listed_in_order_and_once() -> None:
    value = {
        "z": "vars.b",
        "a": ["inputs.x", {"k": "vars.b[0]", "l": "vars.b.0"}],
        "n": 5,
        "s": {"$literal": "vars.no"},
    }
    listed = (("vars", "b"), ("inputs", "x"), ("vars", "b", "0"), ("item",))
    assert references.references([value, "vars.b", "item"], ("item",)) == listed


@given(json_values)
def test_a_value_without_references_reads_nothing(value: Any) -> None:
    assert references.references(value) == ()
    assert resolve({"$literal": value}, unreadable, {}) == value


@pytest.mark.parametrize(
    "large",
    ["x" * 100_001, [0] * 2_000, {str(key): 0 for key in range(2_000)}, {"k" * 100_001: 0}, 10**100_001],
    ids=["text", "list", "object", "key", "number"],
)
def test_many_references_to_a_large_value_are_refused(large: Any) -> None:
    reads = []
    with pytest.raises(CopyTooLarge, match="Use less of it, or refer to it less often"):
        resolve(["vars.x"] * 1_000, lambda path: reads.append(path) or large, {})  # type: ignore[func-returns-value]
    assert len(reads) <= 101  # the copy stops at the limit
    assert resolve(["vars.x"] * 50, lambda path: large, {}) == [large] * 50


@pytest.mark.parametrize("nested", [lambda value: [value], lambda value: {"a": value}], ids=["list", "object"])
def test_deep_values_are_refused(nested: Any) -> None:
    value: Any = 1
    for _ in range(copies.MOST_DEPTH):
        value = nested(value)
    assert copies.copy(value) == value
    assert resolve("vars.x", lambda path: value, {}) == value
    deeper = nested(value)
    for template in ("vars.x", ["vars.x"], {"a": {"$literal": deeper}}, deeper):
        with pytest.raises(CopyTooLarge, match="more than 100 levels"):
            resolve(template, lambda path: deeper, {})
    for _ in range(100_000):
        value = nested(value)
    with pytest.raises(CopyTooLarge):
        resolve(value, unreadable, {})
    assert references.references(value) == ()


def test_long_text_costs_little() -> None:
    for text in ("vars" + ".a" * 4_999_000, "vars['" + "\\'" * 4_999_000, "a" * 9_999_000, "vars" + "['" * 4_999_000):
        assert cpu.within(0.05, lambda text=text: resolve(text, unreadable, {})) == text  # type: ignore[misc]


@pytest.mark.parametrize("part", ["['", "[0", "[0]['", "['']", ".-", "\\'", "['\\", "['\\'"])
def test_a_hostile_reference_costs_little(part: str) -> None:
    text = ("vars" + part * 1_000)[: references.MOST_CHARACTERS - 1] + "#"
    assert cpu.within(0.01, lambda: parse(text)) is None
