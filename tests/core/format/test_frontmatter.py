"""Fences, encoding and size of the header of SKILL.md."""

import pytest

from registry.core.errors import InvalidSkill
from registry.core.format.frontmatter import parse
from registry.core.limits import KIB, Limits
from tests.core.format.headers import cap, doc, refusal

# Fences.


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
