"""The strict YAML of a header: duplicate keys, depth, aliases, tags and plain values."""

import pytest

from registry.core.errors import InvalidSkill
from registry.core.format.frontmatter import parse
from registry.core.limits import Limits
from tests.core.format.headers import cap, doc, refusal


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("name: x\nname: y\n", 3),
        ("name: x\n'name': y\n", 3),
        ("a: {b: 1, b: 2}\n", 2),
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", 5),
        ("a:\n  - b: 1\n    b: 2\n", 4),
    ],
)
def test_a_duplicate_key_is_refused_at_any_depth(header: str, line: int) -> None:
    assert refusal(f"---\n{header}---\n") == ("yaml-duplicate-key", line)


def test_the_error_for_a_duplicate_key_names_both_lines() -> None:
    with pytest.raises(InvalidSkill, match="`description` appears twice, on lines 3 and 5"):
        doc("name: x\ndescription: one\n# between\ndescription: two\n")


@pytest.mark.parametrize(
    "opening", ["a: " + "[" * 10_000, "a: " + "{a: " * 10_000, "- " * 10_000, "a: " + "[" * 10_000 + "]" * 10_000]
)
def test_ten_thousand_levels_are_refused_and_never_a_recursion_error(opening: str) -> None:
    error = cap(f"---\n{opening}\n---\n")
    assert (error.findings[0].rule, error.data["hit"]) == ("yaml-depth", 21)


def test_a_thousand_levels_of_indentation_are_refused() -> None:
    limits = Limits(skill_md_bytes=1_000_000, frontmatter_bytes=1_000_000)
    assert cap("---\n" + "".join(" " * n + "a:\n" for n in range(1_000)) + "---\n", limits).data["hit"] == 21


def test_twenty_levels_are_read() -> None:
    assert doc("a: " + "[" * 19 + "]" * 19 + "\n").fields


def test_depth_is_counted_through_aliases() -> None:
    header = "a: &a " + "[" * 15 + "]" * 15 + "\nb: " + "[" * 10 + "*a" + "]" * 10
    assert cap(f"---\n{header}\n---\n").data["hit"] == 26


def test_a_billion_laughs_attack_is_refused_by_the_expanded_count() -> None:
    bomb = "a0: &a0 [" + "x, " * 9 + "x]\n"
    bomb += "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 10))
    error = cap(f"---\n{bomb}---\n")
    assert error.findings[0].rule == "yaml-nodes"


def test_more_than_twenty_aliases_are_refused() -> None:
    error = cap("---\na: &a x\nb: [" + "*a, " * 21 + "]\n---\n")
    assert (error.findings[0].rule, error.data["hit"], error.data["allowed"]) == ("yaml-aliases", 21, 20)


def test_merge_keys_count_their_expanded_nodes() -> None:
    base = "".join(f"  k{n}: v\n" for n in range(100))
    merges = "".join(f"m{n}:\n  <<: *b\n" for n in range(20))
    assert cap(f"---\nb: &b\n{base}{merges}---\n", Limits(yaml_nodes=2_000)).findings[0].rule == "yaml-nodes"


def test_explicit_keys_override_merge_keys() -> None:
    fields = doc("base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\nmine:\n  <<: [*b, *o]\n  x: own\n").fields
    assert fields["mine"] == {"x": "own", "y": "2", "z": "4"}


@pytest.mark.parametrize("value", ["*nothing", "&a [*a]", "&a {b: *a}"])
def test_an_alias_to_nothing_or_to_itself_is_refused(value: str) -> None:
    assert refusal(f"---\na: {value}\n---\n") == ("yaml-alias", 2)


@pytest.mark.parametrize(
    "value", ["!!python/object/apply:os.system ['id']", "!!int 1", "!own x", "!!binary aGk=", "!!map x", "!!set {a}"]
)
def test_a_tag_is_refused(value: str) -> None:
    assert refusal(f"---\nname: x\na: {value}\n---\n") == ("yaml-tag", 3)


@pytest.mark.parametrize(
    "header", ["? [a, b]\n: c\n", "{a: b}: c\n", "'': c\n", "~: c\n", "a: &a x\n*a : c\n", "<<: text\n", "<<: [text]\n"]
)
def test_a_key_that_is_not_text_is_refused(header: str) -> None:
    assert refusal(f"---\n{header}---\n")[0] == "yaml-key"


@pytest.mark.parametrize("header", ["a: b\n--- c\n", "a: b\n...\n", "# one\n--- {a: b}\n"])
def test_a_document_marker_inside_the_header_is_refused(header: str) -> None:
    assert refusal(f"---\n{header}---\n") == ("yaml-documents", 3)


@pytest.mark.parametrize(
    ("header", "line", "words"),
    [
        ("a:\n\tb: c\n", 3, "tab"),
        ("a: 'open\nb: c\n", 2, "never closed"),
        ("a: @home\n", 2, "special character"),
        ("a: b\nc\nd: e\n", 4, "neither"),
        ("a: b\n c: d\n", 3, "colon"),
        ("a: 'b' c\n", 2, "does not fit"),
        ('a: "C:\\path"\n', 2, "backslash"),
        ('a: "\\UFFFFFFFF"\n', 2, "does not exist"),
        ("a: [b\n", 3, "not valid YAML"),
    ],
)
def test_a_syntax_error_says_what_it_is_and_where(header: str, line: int, words: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        parse(f"---\n{header}---\n")
    finding = caught.value.findings[0]
    assert finding.line == line
    assert words in finding.message


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.0", "1.0"),
        ("007", "007"),
        ("2026-01-01", "2026-01-01"),
        ("1e3", "1e3"),
        ("12:30", "12:30"),
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ('"true"', "true"),
        ("'null'", "null"),
        ("!!str true", "true"),
        ("[a, 1]", ("a", "1")),
    ],
)
def test_plain_values_stay_text_except_bools_and_null(written: str, value: object) -> None:
    assert doc(f"name: x\nv: {written}\n").fields["v"] == value


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("1.0", "float"),
        ("7", "int"),
        ("2026-01-01", "timestamp"),
        ("yes", "bool"),
        ('"1.0"', "str"),
        ("[a]", "seq"),
        ("a b", "str"),
    ],
)
def test_read_as_is_the_type_for_other_yaml_parsers(written: str, kind: str) -> None:
    assert doc(f"metadata:\n  v: {written}\n").read_as["metadata.v"] == kind


def test_keys_are_text_whatever_they_look_like() -> None:
    assert doc("1: a\ntrue: b\n2026-01-01: c\n").fields == {"1": "a", "true": "b", "2026-01-01": "c"}


def test_folded_and_literal_descriptions_are_read() -> None:
    fields = doc("folded: >-\n  one\n  two\n\n  three\nliteral: |\n  one\n    two\n").fields
    assert fields == {"folded": "one two\nthree", "literal": "one\n  two\n"}


def test_lines_of_keys_are_those_of_the_file() -> None:
    lines = doc("# comment\nname: x\n\nmetadata:\n  # inside\n  tags: a\n  deep:\n    down: b\n").lines
    assert lines == {"name": 3, "metadata": 5, "metadata.tags": 7, "metadata.deep": 8}


def test_fields_cannot_be_changed() -> None:
    fields = doc("metadata:\n  a: b\n").fields
    with pytest.raises(TypeError):
        fields["name"] = "x"  # type: ignore[index]
    with pytest.raises(TypeError):
        fields["metadata"]["a"] = "x"  # type: ignore[index]
