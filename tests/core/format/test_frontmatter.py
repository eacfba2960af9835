"""Parsing and editing the header of SKILL.md."""

import string
import sys
import time
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill, SkillsiteError, TooLarge
from registry.core.format import frontmatter
from registry.core.format.edit_lines import quote
from registry.core.format.frontmatter import Document, edit, parse
from registry.core.limits import KIB, Limits
from tests import effort
from tests.core.strategies import law


def doc(header: str, body: str = "Body\n") -> Document:
    return parse(f"---\n{header}---\n{body}")


def refusal(content: bytes | str, limits: Limits = frontmatter.DEFAULT) -> tuple[str, int | None]:
    """Return the rule and line of the first finding, after checking that the message names the file and a fix."""
    with pytest.raises(InvalidSkill) as caught:
        parse(content, limits=limits)
    finding = caught.value.findings[0]
    assert finding.message in caught.value.message
    assert finding.fix in caught.value.message
    assert caught.value.message.startswith(f"SKILL.md, line {finding.line}: ")
    return finding.rule, finding.line


def cap(content: bytes | str, limits: Limits = frontmatter.DEFAULT) -> TooLarge:
    with pytest.raises(TooLarge) as caught:
        parse(content, limits=limits)
    assert f"{caught.value.data['allowed']:,} are allowed. Nothing was saved." in caught.value.message
    return caught.value


# The fences.


@pytest.mark.parametrize("text", ["", "\n", "# Title\n\nname: x\n", "name: x\n---\n", "<html></html>"])
def test_a_text_without_a_header_is_refused(text: str) -> None:
    assert refusal(text) == ("frontmatter-missing", 1)


def test_a_header_below_blank_lines_is_refused_with_its_line() -> None:
    assert refusal("\n\n---\nname: x\n---\n") == ("frontmatter-missing", 3)


@pytest.mark.parametrize("margin", [" ", "  ", "\t"])
def test_an_indented_opening_fence_is_refused(margin: str) -> None:
    assert refusal(f"{margin}---\nname: x\n---\n") == ("frontmatter-indented", 1)


@pytest.mark.parametrize("fence", ["----", "--", "-- -", "---yaml", "--- #", "——-", "———", "---\rname: x"])
def test_a_fence_that_is_not_three_hyphens_is_refused(fence: str) -> None:
    assert refusal(f"{fence}\nname: x\n---\n") == ("frontmatter-fence", 1)


@pytest.mark.parametrize("text", ["---", "---\n", "---\nname: x\n", "---\nname: x\n...\n"])
def test_an_unclosed_header_is_refused(text: str) -> None:
    assert refusal(text) == ("frontmatter-unclosed", 1)


@pytest.mark.parametrize("fence", ["----", " ---", "--", "—"])
def test_the_error_for_an_unclosed_header_names_a_misspelled_fence(fence: str) -> None:
    assert refusal(f"---\nname: x\n{fence}\nBody\n") == ("frontmatter-unclosed", 3)


@pytest.mark.parametrize("header", ["", "\n", "# only a comment\n", "{}\n", "~\n"])
def test_an_empty_header_is_refused(header: str) -> None:
    assert refusal(f"---\n{header}---\nBody\n") == ("frontmatter-empty", 2)


@pytest.mark.parametrize("header", ["just text\n", "true\n", "- name\n- text\n", "[a, b]\n", "'quoted'\n"])
def test_a_header_that_is_not_a_map_is_refused(header: str) -> None:
    assert refusal(f"---\n{header}---\n") == ("frontmatter-root", 2)


def test_spaces_after_a_fence_are_tolerated() -> None:
    document = parse("---  \nname: x\n---\t\nBody")
    assert (document.fields, document.body, document.warnings) == ({"name": "x"}, "Body", ())


def test_the_body_is_kept_exactly_and_its_line_is_known() -> None:
    document = parse("---\nname: x\n---\n\n  indented\n---\nrule above\n")
    assert document.body == "\n  indented\n---\nrule above\n"
    assert document.body_line == 4


def test_a_closing_fence_at_the_end_of_the_file_leaves_an_empty_body() -> None:
    document = parse("---\nname: x\n---")
    assert (document.body, document.body_line) == ("", 4)


# Encoding and size.


def test_a_byte_order_mark_is_tolerated_with_a_warning() -> None:
    document = parse(b"\xef\xbb\xbf---\nname: x\n---\n")
    assert document.fields == {"name": "x"}
    assert document.text.startswith("\ufeff")
    assert [(w.rule, w.line) for w in document.warnings] == [("frontmatter-bom", 1)]


def test_crlf_is_read_like_lf_and_kept() -> None:
    document = parse("---\r\nname: x\r\ndescription: |\r\n  one\r\n  two\r\n---\r\nBody\r\n")
    assert document.fields == {"name": "x", "description": "one\ntwo\n"}
    assert document.body == "Body\r\n"
    assert document.lines == {"name": 2, "description": 3}


@pytest.mark.parametrize("raw", [b"---\nname: x\nd: caf\xe9\n---\n", b"---\nname: x\n\xff\xfe---\n"])
def test_bytes_that_are_not_utf8_are_refused_with_their_line(raw: bytes) -> None:
    assert refusal(raw) == ("skill-md-encoding", 3)


def test_the_error_for_invalid_utf8_names_the_byte() -> None:
    with pytest.raises(InvalidSkill, match=r"byte 16 is 0xe9"):
        parse(b"---\nname: x\nabc\xe9\n---\n")


def test_half_a_surrogate_pair_is_refused() -> None:
    assert refusal("---\nname: x\n---\n\ud800") == ("skill-md-encoding", 4)


@pytest.mark.parametrize(("text", "line"), [("---\nname: \0\n---\n", 2), ("---\nname: x\n---\nBody \0", 4)])
def test_nul_is_refused(text: str, line: int) -> None:
    assert refusal(text) == ("skill-md-nul", line)


@pytest.mark.parametrize("value", ['"\\0"', '"\\ud800"', "\x07", "\x1b"])
def test_a_value_that_databases_cannot_store_is_refused(value: str) -> None:
    assert refusal(f"---\nname: x\nbad: {value}\n---\n") == ("yaml-character", 3)


def test_a_file_over_the_limit_is_refused_with_both_numbers() -> None:
    error = cap("---\nname: x\n---\n" + "a" * 512_000)
    assert (error.data["hit"], error.data["allowed"]) == (512_016, 512_000)


def test_bytes_are_counted_not_characters() -> None:
    assert cap("---\nname: x\n---\n" + "é" * 500, Limits(skill_md_bytes=1_000)).data["hit"] == 1_016


def test_a_header_over_the_limit_is_refused_before_it_is_parsed() -> None:
    error = cap("---\nname: x\nname: twice\nd: " + "a" * 64 * KIB + "\n---\n")
    assert error.findings[0].rule == "frontmatter-size"


def test_a_header_at_the_limit_is_parsed() -> None:
    filler = "a" * (64 * KIB - len("d: \n"))
    assert doc(f"d: {filler}\n").fields == {"d": filler}


# YAML, strictly.


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


# The tolerant second try.


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("description: Use when: somebody asks\n", "Use when: somebody asks"),
        ("description: Use this for:\n", "Use this for:"),
        ("description: It's: fine # said so\n", "It's: fine"),
        ("description: Use when\n  they ask: now\n\n  and later\n", "Use when they ask: now\nand later"),
        ("description: a:\tb\n", "a:\tb"),
        ("description: see https://a.b/c: it helps\r\n", "see https://a.b/c: it helps"),
    ],
)
def test_a_colon_in_an_unquoted_description_is_tolerated_with_a_warning(header: str, value: str) -> None:
    document = doc(f"name: x\n{header}license: MIT\n")
    assert document.fields == {"name": "x", "description": value, "license": "MIT"}
    assert [(w.rule, w.line) for w in document.warnings] == [("frontmatter-tolerant", 3)]
    assert "double quotes" in document.warnings[0].fix


def test_the_second_try_parses_everything_else_like_the_first() -> None:
    document = doc(
        "name: x\ndescription: a: b\nnote: |\n  c: d: e\ntags:\n  - one\n  - two: three: four\n"
        "metadata:\n  k: v: w\n  q: 'x: y'\n"
    )
    assert document.fields == {
        "name": "x",
        "description": "a: b",
        "note": "c: d: e\n",
        "tags": ("one", {"two": "three: four"}),
        "metadata": {"k": "v: w", "q": "x: y"},
    }
    assert [w.line for w in document.warnings] == [3, 8, 10]


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("description: a: b\nname: x\nname: y\n", "yaml-duplicate-key"),
        ("description: a: b\ndescription: c: d\n", "yaml-duplicate-key"),
        ("description: a: b\nname: !own x\n", "yaml-tag"),
        ("description: a: b\nname: 'open\n", "yaml-colon"),
        ("description: a: b\nname: @x\n", "yaml-colon"),
        ("description: [a] b: c\n", "yaml-syntax"),
        ("description: a\n  so b: c # comment\n  d\n", "yaml-colon"),
        ("name: x\n description: a key with a space before it\n", "yaml-colon"),
    ],
)
def test_the_second_try_is_as_strict_as_the_first(header: str, rule: str) -> None:
    assert refusal(f"---\n{header}---\n")[0] == rule


def test_the_second_try_enforces_the_limits() -> None:
    error = cap("---\ndescription: a: b\nx: " + "[" * 30 + "]" * 30 + "\n---\n")
    assert error.findings[0].rule == "yaml-depth"


def test_a_duplicate_key_gets_no_second_try() -> None:
    with pytest.raises(InvalidSkill) as caught:
        doc("name: x\nname: y\ndescription: a: b\n")
    assert caught.value.findings[0].rule == "yaml-duplicate-key"


# Edits.

KEPT = """\
# head
name: x   # the name
vendor: {a: [1, 2]}

description: >-
  one
  two

metadata:
    # inside
    version: 1.0
    tags: a, b  # both
# foot
"""


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"name": "y"}, ["name: x   # the name\n"], ['name: "y"   # the name\n']),
        ({"name": None}, ["name: x   # the name\n"], []),
        ({"description": "a: b"}, ["description: >-\n", "  one\n", "  two\n"], ['description: "a: b"\n']),
        ({"description": None}, ["description: >-\n", "  one\n", "  two\n"], []),
        ({"vendor": "v"}, ["vendor: {a: [1, 2]}\n"], ['vendor: "v"\n']),
        ({"metadata.tags": ["c", "d e"]}, ["    tags: a, b  # both\n"], ['    tags: "c, d e"  # both\n']),
        ({"metadata.tags": None}, ["    tags: a, b  # both\n"], []),
        ({"metadata.kind": "tool"}, [], ['    kind: "tool"\n']),
        ({"license": "MIT"}, [], ['license: "MIT"\n']),
        ({"zz": ["a", "b"]}, [], ['zz: ["a", "b"]\n']),
        ({"zz": True}, [], ["zz: true\n"]),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_an_edit_changes_the_lines_of_its_key_and_nothing_else(
    changes: dict[str, object], old: list[str], new: list[str], newline: str, bom: str
) -> None:
    document = parse(bom + f"---\n{KEPT}---\nBody\n".replace("\n", newline))
    result = edit(document, changes)
    wanted = [line.replace("\n", newline) for line in old], [line.replace("\n", newline) for line in new]
    assert lines_changed(document.text, result) == wanted


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"name": "x"},
        {"description": "one two"},
        {"metadata.tags": "a, b"},
        {"metadata.tags": ["a", "b"]},
        {"missing": None},
        {"metadata.missing": None},
        {"metadata.version": "1.0"},
    ],
)
def test_setting_the_current_value_changes_nothing(changes: dict[str, object]) -> None:
    document = doc(KEPT)
    assert edit(document, changes, body="Body\n") == document.text


def test_several_changes_are_applied_at_once() -> None:
    changes = {"zz": "last", "license": "MIT", "description": "d", "metadata.c": "e", "metadata.a": None}
    assert edit(doc("metadata:\n  a: b\nname: x\n"), changes) == (
        '---\nmetadata:\n  c: "e"\nname: x\ndescription: "d"\nlicense: "MIT"\nzz: "last"\n---\nBody\n'
    )


def test_metadata_is_created_at_the_end() -> None:
    result = edit(doc("name: x\nvendor: y\n# foot\n"), {"metadata.tags": ["a", "b"], "metadata.kind": "tool"})
    assert result == '---\nname: x\nvendor: y\n# foot\nmetadata:\n  tags: "a, b"\n  kind: "tool"\n---\nBody\n'


@pytest.mark.parametrize("written", ["metadata:  # why\n", "metadata: ~  # why\n"])
def test_an_empty_metadata_is_filled(written: str) -> None:
    assert edit(doc(f"name: x\n{written}z: y\n"), {"metadata.a": "b"}) == (
        '---\nname: x\nmetadata:  # why\n  a: "b"\nz: y\n---\nBody\n'
    )


def test_removing_the_last_key_removes_metadata() -> None:
    assert edit(doc("name: x\nmetadata:\n  a: b\n"), {"metadata.a": None}) == "---\nname: x\n---\nBody\n"


def test_a_flow_map_of_metadata_is_rewritten_as_a_block() -> None:
    assert edit(doc("name: x\nmetadata: {a: b, v: 1.0} # why\n"), {"metadata.c": "d"}) == (
        '---\nname: x\nmetadata: # why\n  a: "b"\n  v: "1.0"\n  c: "d"\n---\nBody\n'
    )


def test_a_list_keeps_its_style() -> None:
    document = doc("block:  # why\n  - a\n  - b\nflow: [a, b]\n")
    assert edit(document, {"block": ["c"], "flow": ["d"]}) == ('---\nblock:  # why\n  - "c"\nflow: ["d"]\n---\nBody\n')


def test_removing_a_keep_scalar_removes_its_blank_lines() -> None:
    assert edit(doc("a: |+\n  x\n\n\nb: |\n  y\n\nc: z\n"), {"a": None, "b": None}) == "---\n\nc: z\n---\nBody\n"


def test_an_edit_of_a_tolerated_header_adds_the_quotes() -> None:
    document = doc("name: x\ndescription: Use when: asked # note\nother: c: d\n")
    result = edit(document, {"description": "Use when: told"})
    assert result == '---\nname: x\ndescription: "Use when: told" # note\nother: c: d\n---\nBody\n'
    assert [w.line for w in parse(result).warnings] == [4]


@pytest.mark.parametrize(
    ("header", "changes"),
    [
        ("{name: x, description: y}\n", {"name": "z"}),
        ("? name\n: x\n", {"name": "z"}),
        ("name: x\nmetadata: text\n", {"metadata.a": "b"}),
        ("name: x\nmetadata: [a]\n", {"metadata.a": "b"}),
        ("name: x\nmetadata: {a: {b: c}}\n", {"metadata.d": "e"}),
        ("base: &b {k: v}\nname: x\nmetadata:\n  <<: *b\n  a: b\n", {"metadata.k": None}),
        ("a: &a x\nb: *a\n", {"a": "y"}),
        ("name: x\n", {"name": None}),
        ("name: x\n", {"name": "nul \0"}),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused(header: str, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidSkill) as caught:
        edit(doc(header), changes)
    assert caught.value.findings[0].rule == "frontmatter-edit"
    assert "Switch to Code" in caught.value.findings[0].fix


@pytest.mark.parametrize("changes", [{"b": None}, {"b": None, "license": "MIT"}, {"b": None, "metadata.k": "v"}])
def test_removing_a_key_does_not_add_lines_to_a_value_that_keeps_them(changes: dict[str, object]) -> None:
    text = edit(doc("name: x\na: |+\n  one\n\nb:\n  - c\n\n\nd: e\n"), changes)
    after = parse(text).fields
    assert (after["a"], after["d"]) == ("one\n\n", "e")
    assert "b" not in after and after.keys() >= {name for name in changes if name == "license"}


def test_a_comma_inside_an_item_is_refused() -> None:
    with pytest.raises(InvalidSkill, match="contains a comma"):
        edit(doc("name: x\n"), {"metadata.tags": ["a, b"]})


def test_an_edit_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge):
        edit(doc("name: x\n"), {"description": "a" * 65 * KIB})


def test_an_unsupported_value_raises_type_error() -> None:
    with pytest.raises(TypeError):
        edit(doc("name: x\n"), {"name": {"a": "b"}})


@pytest.mark.parametrize(
    ("text", "body", "result"),
    [
        ("---\nname: x\n---\nold\n", "new\r\nline\n", "---\nname: x\n---\nnew\nline\n"),
        ("---\r\nname: x\r\n---\r\nold\r\n", "new\nline\n", "---\r\nname: x\r\n---\r\nnew\r\nline\r\n"),
        ("---\nname: x\n---", "new\n", "---\nname: x\n---\nnew\n"),
        ("---\nname: x\n---\nold\n", "", "---\nname: x\n---\n"),
    ],
)
def test_a_new_body_gets_the_line_endings_of_the_file(text: str, body: str, result: str) -> None:
    assert edit(parse(text), {}, body=body) == result


@pytest.mark.parametrize(
    "value",
    [
        "a --- b",
        "-----",
        'say "hi"',
        "back\\slash",
        "tab\tline\nend",
        "\x85\u2028\ufeff",
        "# no comment",
        "é 漢 😀",
        " padded ",
        "{a}",
        "*x",
        "",
    ],
)
def test_any_text_can_be_written_and_parsed_back(value: str) -> None:
    result = edit(doc("name: x\n"), {"description": value})
    assert parse(result).fields["description"] == value
    assert "---" not in result.splitlines()[2]


# Laws.

WORDS = st.text(string.ascii_letters + string.digits + " é:#-'\",[]{}&*!|>%@`\\", max_size=25)
KEYS = st.from_regex(r"\A[a-z][a-z0-9_-]{0,8}\Z")
COMMENTS = st.sampled_from(["", "\n", "# note\n", "\n# a: b\n\n"])


@st.composite
def entry(draw: st.DrawFn, key: str, margin: str = "") -> str:
    value = draw(WORDS)
    written = draw(
        st.sampled_from(
            [
                quote(value),
                "'" + value.replace("'", "''") + "'",
                "plain text",
                "1.0",
                "true",
                "",
                "[a, b]",
                f"|\n{margin}    one\n\n{margin}    # two",
                f">+\n{margin}    one\n\n",
                "&anchor x",
                f"\n{margin}  - a\n{margin}  # between\n{margin}  - b",
                f"\n{margin}    deep:\n{margin}      er: x",
                "Use when: asked",
            ]
        )
    )
    comment = draw(st.sampled_from(["", "  # why"])) if "\n" not in written else ""
    return f"{margin}{key}:{'' if written.startswith(chr(10)) else ' '}{written}{comment}\n{draw(COMMENTS)}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    keys = draw(st.lists(KEYS, min_size=1, max_size=4, unique=True))
    header = draw(COMMENTS) + "".join(draw(entry(key)) for key in keys if key != "metadata")
    if draw(st.booleans()):
        inside = draw(st.lists(KEYS, min_size=1, max_size=3, unique=True))
        header += "metadata:\n" + "".join(draw(entry(key, "  ")) for key in inside)
    text = f"---\n{header}name: x\n---\n{draw(WORDS)}\n" if "name" not in keys else f"---\n{header}---\n"
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


@law
@given(documents())
def test_an_empty_edit_changes_nothing(text: str) -> None:
    document = parse(text)
    assert edit(document, {}) == text
    texts = {name: value for name, value in document.fields.items() if isinstance(value, str)}
    assert edit(document, texts) == text


@law
@given(documents(), st.data())
def test_an_edit_of_one_key_leaves_all_other_fields_and_lines_alone(text: str, data: st.DataObject) -> None:
    document = parse(text)
    name = data.draw(st.sampled_from([*document.fields, "fresh-key"]))
    value = data.draw(WORDS)
    result = edit(document, {name: value})
    after = parse(result)
    assert after.fields == {**document.fields, name: value}
    assert after.body == document.body
    old, _ = lines_changed(text, result)
    key = document.layout.loaded.keys.get((name,))
    first, last = (key.line + 1, key.end_line + 1) if key else (0, -1)
    assert len(old) <= last - first + 1
    untouched = [line for at, line in enumerate(text.splitlines(keepends=True)) if not first <= at <= last]
    remaining = iter(result.splitlines(keepends=True))
    assert all(line in remaining for line in untouched)


@law
@given(documents(), st.data())
def test_removing_one_key_and_setting_another_leaves_the_rest_alone(text: str, data: st.DataObject) -> None:
    document = parse(text)
    others = [name for name in document.fields if name not in ("name", "metadata")]
    doomed = data.draw(st.sampled_from(others or ["missing"]))
    inside = document.fields.get("metadata") or {}
    assert isinstance(inside, type(document.fields) | dict)
    after = parse(edit(document, {doomed: None, "metadata.fresh_key": "v"}))
    kept = {name: value for name, value in document.fields.items() if name not in (doomed, "metadata")}
    assert after.fields == {**kept, "metadata": {**inside, "fresh_key": "v"}}


YAMLISH = st.lists(
    st.sampled_from(
        [
            "name",
            "description",
            "metadata",
            ": ",
            ":",
            "\n",
            "\n  ",
            "\n- ",
            "- ",
            "? ",
            "'",
            '"',
            "[",
            "]",
            "{",
            "}",
            ",",
            "&a ",
            "*a",
            "!!str ",
            "!x ",
            "|",
            "|+",
            "|2-",
            ">",
            "#",
            " # c",
            "---",
            "...",
            "\r\n",
            "\r",
            "\x85",
            "\u2028",
            "\t",
            "\\",
            "\\U00110000",
            "\\x",
            "%YAML 1.1",
            "%TAG ! x",
            "<<",
            "~",
            "true",
            "1.0",
            "é",
            "\ufeff",
            "\ud800",
            "\0",
            "@",
        ]
    ),
    max_size=25,
).map("".join)


@settings(law, max_examples=effort.examples(200))
@given(st.one_of(YAMLISH, YAMLISH.map(lambda header: f"---\n{header}\n---\nBody"), st.text(), st.binary()))
def test_any_input_is_parsed_or_refused_with_findings(content: str | bytes) -> None:
    try:
        document = parse(content)
        assert edit(document, {}) == document.text
        edit(document, {"name": "x", "metadata.tags": ["a"], next(iter(document.fields)): None})
    except SkillsiteError as error:
        assert error.findings


def work(content: str) -> int:
    """Count the lines of Python that run to parse the content."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse(content)
    except SkillsiteError:
        pass
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: "a: " + "{a: " * (n // 4),
        lambda n: "- " * (n // 2),
        lambda n: "a: |\n" + "\n" * n,
        lambda n: "a: " + "b: " * (n // 3),
        lambda n: "a: [" + "x," * (n // 2) + "]",
        lambda n: "a: b: c\n" + "  so d: e\n" * (n // 10),
        lambda n: "".join(f"k{i}: v: w\n" for i in range(n // 10)),
        lambda n: "".join(f"k{i}: |\n\n\n" for i in range(n // 9)),
        lambda n: "a: b\n" + "---x\n" * (n // 5),
        lambda n: "a: b: c" + " #" * (n // 2),
        lambda n: "a: " + "!" * n,
        lambda n: "a: 'b" + " " * n,
    ],
    ids=range(12),
)
def test_twice_the_header_is_at_most_about_twice_the_work(shape: object) -> None:
    assert callable(shape)
    small, large = (work(f"---\n{shape(size)}\n---\n") for size in (1_000, 2_000))
    assert large < 2.5 * small + 1_000


@pytest.mark.parametrize(
    "line",
    [
        "a: b: c" + " " * 60_000 + "d",
        "a: b: c\n  d" + " " * 60_000 + "e",
        "a: >" + " " * 60_000 + "\n  b",
    ],
    ids=["one line", "two lines", "block"],
)
def test_a_long_run_of_blanks_is_read_and_edited_in_a_moment(line: str) -> None:
    """Measure CPU time, because the work of regular expressions does not count as lines of Python."""
    before = time.process_time()
    document = parse(f"---\nname: x\n{line}\n---\n")
    assert parse(edit(document, {"a": "z"})).fields == {"name": "x", "a": "z"}
    assert time.process_time() - before < 2
