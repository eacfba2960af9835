"""Files as JSON values: numbers, lines at any depth, text as it is written, and limits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.format import strict_yaml
from registry.core.limits import Limits
from registry.core.workflows.documents import Document, load
from registry.core.workflows.values import canonical

FILE = "workflow.yaml"


def read(text: str | bytes, **limits: int) -> Document:
    return load(text, file=FILE, limits=Limits(**limits))


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("1", 1), ("-1", -1), ("+1", 1), ("0", 0), ("999999999999999", 999_999_999_999_999),
        ("1.0", 1.0), ("-0.5", -0.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("1.5E-2", 0.015),
        ("true", True), ("TRUE", True), ("False", False), ("null", None), ("~", None), ("", None),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_its_json_value(plain: str, value: object) -> None:
    found = read(f"a: {plain}\n").value["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "plain",
    ["1.0.0", "010", "-01", "0x1f", "0o17", "1_000", "yes", "no", "on", "off", "y", "2026-11-18", "12:30", ".inf",
     "-.inf", ".nan", "nan", "inf", ".", "-", "e3", "1e", "١", "tRue", "nULL"],
)  # fmt: skip
def test_any_other_plain_scalar_is_text(plain: str) -> None:
    assert read(f"a: [x, {plain}]\n").value == {"a": ["x", plain]}


@pytest.mark.parametrize("quoted", ['"1"', "'1.5'", '"true"', "'null'", '"~"', "! 1", "!!str 1"])
def test_a_quoted_scalar_is_text(quoted: str) -> None:
    assert isinstance(read(f"a: {quoted}\n").value["a"], str)


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("1234567890123456", "more than 15 digits"),
        ("-1234567890123456", "more than 15 digits"),
        ("1e999", "too large"),
        ("-1e999", "too large"),
        (f"0.{'1' * 40}", "more than 40 characters"),
    ],
)
def test_a_number_that_json_cannot_hold_is_refused_with_its_line(plain: str, said: str) -> None:
    with pytest.raises(InvalidSkill, match=f"line 2: .*{said}.*quotes") as raised:
        read(f"a: 1\nb: {plain}\n")
    assert raised.value.findings[0].rule == "yaml-number"


def test_keys_are_text() -> None:
    assert read("1: a\ntrue: b\n12345678901234567890: c\n").value == {
        "1": "a",
        "true": "b",
        "12345678901234567890": "c",
    }


@pytest.mark.parametrize("key", ["~", "null", "''", "[a]", "{a: b}"])
def test_a_key_without_text_is_refused(key: str) -> None:
    with pytest.raises(InvalidSkill, match="A key is empty, a list, a map or an alias"):
        read(f"{key}: 1\n")


TEXT = """\
# A comment.
id: a

steps:
  - id: one
    input:
      list:
        - x
        - deep:
            deeper: 1.0
  -
    id: two
    flow: {a: 1,
      b: [1,
        2]}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1), (("id",), 2), (("steps",), 4), (("steps", 0), 5), (("steps", 0, "input", "list", 0), 8),
        (("steps", 0, "input", "list", 1, "deep"), 9), (("steps", 0, "input", "list", 1, "deep", "deeper"), 10),
        (("steps", 1), 12), (("steps", 1, "flow", "a"), 13), (("steps", 1, "flow", "b"), 14),
        (("steps", 1, "flow", "b", 1), 15),
    ],
)  # fmt: skip
def test_each_key_and_item_knows_its_line(path: strict_yaml.Path, line: int) -> None:
    assert read(TEXT).line(path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [(("none",), 1), (("steps", 7, "id"), 4), (("steps", 0, "input", "list", 0, "x"), 8), (("steps", 1, "none"), 12)],
)
def test_the_line_of_a_missing_key_is_that_of_the_nearest_one_around_it(path: strict_yaml.Path, line: int) -> None:
    assert read(TEXT).line(path) == line


def test_a_value_behind_an_alias_has_the_line_of_the_alias() -> None:
    document = read("a: &x\n  b:\n    c: 1\nd: *x\n")
    assert (document.line(("a", "b", "c")), document.line(("d", "b", "c"))) == (3, 4)


def test_a_merged_key_has_the_line_of_its_map() -> None:
    document = read("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n")
    assert document.value["c"] == {"b": 1, "d": 2}
    assert document.line(("c", "b")) == 2


@pytest.mark.parametrize(
    ("written", "text"), [("1.10", "1.10"), ("'1.10'", "1.10"), ("TRUE", "TRUE"), ("+1", "+1"), ("", ""), ("[1]", None)]
)
def test_a_scalar_can_be_read_as_it_is_written(written: str, text: str | None) -> None:
    assert read(f"version: {written}\n").text(("version",)) == text


def test_a_path_that_is_not_in_the_file_has_no_text() -> None:
    assert read("a: 1\n").text(("b",)) is None


def test_a_shared_value_is_copied() -> None:
    value = read("a: &x [1]\nb: *x\n").value
    value["a"].append(2)
    assert value["b"] == [1]


def test_a_file_may_start_with_a_marker_or_a_byte_order_mark() -> None:
    assert read("---\na: 1\n").value == read("\ufeffa: 1\n").value == {"a": 1}


@pytest.mark.parametrize("text", ["a: 1\n---\nb: 2\n", "---\na: 1\n---\n", "a: 1\n...\n"])
def test_a_second_document_is_refused(text: str) -> None:
    with pytest.raises(InvalidSkill, match="would start or end a YAML document"):
        read(text)


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("a: 1\na: 2\n", "yaml-duplicate-key", 2),
        ("a: !!int 1\n", "yaml-tag", 1),
        ("a: !!python/object:os.system {}\n", "yaml-tag", 1),
        ("a: b: c\n", "yaml-colon", 1),
        ("a:\n\tb: c\n", "yaml-syntax", 2),
        ("a: *b\n", "yaml-alias", 1),
        ("a: &a [*a]\n", "yaml-alias", 1),
        ('a: "\\0"\n', "yaml-character", 1),
        ("a: \0\n", "yaml-character", 1),
        (b"a: 1\nb: \xff\n", "yaml-encoding", 2),
        ("a: 1\nb: \ud800\n", "yaml-encoding", 2),
    ],
)
def test_a_file_that_is_not_strict_yaml_is_refused_with_its_line(text: str | bytes, rule: str, line: int) -> None:
    with pytest.raises(InvalidSkill) as raised:
        read(text)
    finding = raised.value.findings[0]
    assert (finding.rule, finding.file, finding.line) == (rule, FILE, line)


@pytest.mark.parametrize(
    ("text", "rule", "hit"),
    [
        ("[" * 10_000, "yaml-depth", 21),
        ("a: [" + "1, " * 5_000 + "]", "yaml-nodes", 5_001),
        ("a: &a x\nb: [" + "*a, " * 21 + "]\n", "yaml-aliases", 21),
        ("#" * 65_537, "yaml-size", 65_537),
        ("é" * 33_000, "yaml-size", 66_000),
    ],
)
def test_a_file_beyond_a_limit_is_refused_with_both_numbers(text: str, rule: str, hit: int) -> None:
    with pytest.raises(TooLarge) as raised:
        read(text)
    assert (raised.value.findings[0].rule, raised.value.data["hit"]) == (rule, hit)


def test_a_billion_laughs_attack_is_refused_before_it_grows() -> None:
    bomb = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    bomb += "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 10))
    with pytest.raises(TooLarge, match=r"The file has 5,\d+ or more YAML nodes"):
        read(bomb)


def test_messages_name_the_file_and_not_a_header() -> None:
    with pytest.raises(TooLarge, match="The file has 21 or more levels of nesting"):
        read("[" * 30)


KEYS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufffe\uffff"), max_size=20
)
NUMBERS = st.integers(-(10**15) + 1, 10**15 - 1) | st.floats(-1e9, 1e9).map(lambda number: round(number, 6))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_is_read_as_itself(value: Any) -> None:
    assert canonical(read(canonical(value)).value) == canonical(value)
