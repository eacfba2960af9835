"""The editor form: converting SKILL.md to form fields and back loses nothing."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.core.errors import InvalidSkill
from registry.core.format import skill_form, skill_md
from registry.core.format.skill_form import Fields
from tests import effort

KEPT = """---
# why this header looks odd
name: expense-report   # agents call it so
description: "Checks a report."
x-owner: finance
metadata:
  tags: "travel, money"
  review-by: "2027-01-01"
---

# Limits

Hotels: 180.
"""


def test_saving_an_unchanged_form_keeps_every_byte() -> None:
    assert skill_form.to_text(KEPT, skill_form.parse(KEPT)) == KEPT


def test_one_changed_field_leaves_comments_and_unknown_keys_alone() -> None:
    typed = Fields(**{**skill_form.parse(KEPT).as_json(), "tags": "travel, money, hotels"})
    assert skill_form.to_text(KEPT, typed) == KEPT.replace('"travel, money"', '"travel, money, hotels"')


def test_an_empty_form_makes_a_text_that_reads_back_as_empty() -> None:
    text = skill_form.to_text("", Fields(instructions="Do it."))
    assert skill_form.parse(text) == Fields(instructions="Do it.")
    assert "not-written-yet" not in text
    with pytest.raises(InvalidSkill):
        skill_md.read(text)


def test_a_removed_name_becomes_an_empty_key_without_placeholder() -> None:
    typed = Fields(**{**skill_form.parse(KEPT).as_json(), "name": " "})
    text = skill_form.to_text(KEPT, typed)
    assert 'name: ""   # agents call it so' in text
    assert skill_form.parse(text).name == ""
    assert skill_form.to_text(text, skill_form.parse(KEPT)).replace('"expense-report"', "expense-report") == KEPT


@pytest.mark.parametrize("text", ["no header", "---\nname: a\nname: b\ndescription: x\n---\n", "---\nname: [a]\n---\n"])
def test_a_text_with_an_invalid_header_has_no_form(text: str) -> None:
    with pytest.raises(InvalidSkill):
        skill_form.parse(text)
    with pytest.raises(InvalidSkill):
        skill_form.to_text(text, Fields(name="a", description="b"))


def test_list_items_are_separated_by_commas_or_lines_without_duplicates() -> None:
    assert skill_form.items("a, b\r\nc,,a ,\n  two words ") == ("a", "b", "c", "two words")


def test_a_new_file_can_be_read_by_every_client() -> None:
    text = skill_form.to_text("", Fields(name="a-b", description="Says: hi", tags="x, y", instructions="Go."))
    assert text.startswith('---\nname: a-b\ndescription: "Says: hi"\nmetadata:\n')
    assert skill_md.read(text).tags == ("x", "y")


@pytest.mark.parametrize("old", ["a\r\nb\nc\r\n", "a\nb", "\r\n", "", "a\rb\r"])
def test_an_unchanged_text_keeps_its_line_endings(old: str) -> None:
    sent = old.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    assert skill_form.restore_line_endings(old, sent) == old


def test_only_changed_lines_get_the_line_ending_of_the_file() -> None:
    assert skill_form.restore_line_endings("a\r\nb\r\nc\n", "a\r\nB\r\nnew\r\nc\r\n") == "a\r\nB\r\nnew\r\nc\n"


@settings(max_examples=effort.examples(60))
@given(st.text(alphabet="ab\r\n", max_size=12), st.text(alphabet="ab\n", max_size=12))
@example(old="\ra\n\n", new="\n\n")
@example(old="\r\ra\n\n\n", new="\n\n\n\n")
@example(old="a\rb\n\n", new="a\n\n")
def test_restored_line_endings_change_nothing_else(old: str, new: str) -> None:
    result = skill_form.restore_line_endings(old, new)
    assert result.replace("\r\n", "\n").replace("\r", "\n") == new


_words = st.text(alphabet="abc ,:#\"'-é—", max_size=30)


@settings(max_examples=effort.examples(60))
@given(_words, _words, _words, st.sampled_from([skill_md.TOOL, skill_md.KNOWLEDGE]))
def test_any_typed_values_are_parsed_back(name: str, description: str, tags: str, kind: str) -> None:
    typed = Fields(name=name, description=description, tags=tags, kind=kind, instructions="Do it.")
    read = skill_form.parse(skill_form.to_text("", typed))
    assert (read.name, read.description) == (name.strip(), " ".join(description.split()))
    assert skill_form.items(read.tags) == skill_form.items(tags)
    assert read.kind == kind
