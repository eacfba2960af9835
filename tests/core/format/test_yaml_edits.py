"""Edits of a YAML text change the wanted values and leave every other byte as it was."""

from typing import Any

import pytest

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.format import yaml_edits
from registry.core.format.yaml_edits import REMOVED, Renamed
from registry.core.limits import DEFAULT

FILE = "workflow.yaml"
TEXT = """\
# top
id: a
steps:
  # first
  - id: one   # the id
    uses: "text.template"  # quoted
    input:
      template: |  # a template
        Hello
        there

      variables: {a: inputs.a, b: 'x'}
    config:
      timeout_seconds: 5
  - uses: b.c
    id: two
    config: {depends_on: [one], retry: {max_attempts: 2}}
  - id: three
    config:
"""


def apply(changes: dict[tuple[str | int, ...], Any], text: str = TEXT) -> str:
    return yaml_edits.apply(text, changes, file=FILE, order=("id", "uses", "input", "output", "config"))


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (("id",), "b", "id: a\n", "id: b\n"),
        (("id",), Renamed("name"), "id: a\n", "name: a\n"),
        (("id",), "1.0", "id: a\n", 'id: "1.0"\n'),
        (("id",), "no", "id: a\n", 'id: "no"\n'),
        (("id",), 2, "id: a\n", "id: 2\n"),
        (("id",), None, "id: a\n", "id: null\n"),
        (("id",), "x: y", "id: a\n", 'id: "x: y"\n'),
        (("steps", 0, "id"), "uno", "- id: one   # the id", "- id: uno   # the id"),
        (("steps", 0, "uses"), "x.y", '"text.template"  #', '"x.y"  #'),
        (("steps", 0, "input", "variables", "b"), "it's", "b: 'x'", "b: 'it''s'"),
        (("steps", 0, "input", "variables", "c"), [1, "d"], "b: 'x'}", "b: 'x', c: [1, d]}"),
        (("steps", 0, "input", "variables", "a"), REMOVED, "{a: inputs.a, b: 'x'}", "{b: 'x'}"),
        (("steps", 0, "input", "variables"), REMOVED, "      variables: {a: inputs.a, b: 'x'}\n", ""),
        (("steps", 0, "input", "template"), "Hi", "|  # a template\n        Hello\n        there\n",
         "Hi  # a template\n"),
        (("steps", 0, "input", "template"), "A\nB", "|  # a template\n        Hello\n        there\n",
         "|-  # a template\n        A\n        B\n"),
        (("steps", 0, "config", "timeout_seconds"), REMOVED, "    config:\n      timeout_seconds: 5\n", ""),
        (("steps", 0, "config", "condition"), "a > 'b'", "timeout_seconds: 5\n",
         "timeout_seconds: 5\n      condition: a > 'b'\n"),
        (("steps", 0, "output", "text"), "vars.x", "'x'}\n", "'x'}\n    output:\n      text: vars.x\n"),
        (("steps", 1, "uses"), REMOVED, "- uses: b.c\n    id: two", "- id: two"),
        (("steps", 1, "config", "depends_on", 0), "uno", "[one]", "[uno]"),
        (("steps", 1, "config", "depends_on"), REMOVED, "{depends_on: [one], retry", "{retry"),
        (("steps", 1, "config", "retry", "max_attempts"), REMOVED, ", retry: {max_attempts: 2}", ""),
        (("steps", 2, "config", "condition"), "x", "    config:\n", "    config:\n      condition: x\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_edit_changes_only_its_value(
    path: tuple[str | int, ...], value: Any, before: str, after: str, newline: str
) -> None:
    text = TEXT if before != "    config:\n" else TEXT.replace("    config:\n      timeout_seconds: 5\n", "")
    assert text.count(before) == 1
    found = apply({path: value}, text.replace("\n", newline))
    assert found == text.replace(before, after).replace("\n", newline)


def test_the_quotes_of_an_empty_text_are_not_kept() -> None:
    assert apply({("a",): "vars.x"}, "a: ''\nb: \"\"\n") == 'a: vars.x\nb: ""\n'


def test_several_changes_are_made_at_once() -> None:
    found = apply({("id",): "b", ("inputs", "n", "type"): "string", ("inputs", "n", "default"): "1"})
    assert found.startswith("# top\nid: b\nsteps:")
    assert found.endswith('inputs:\n  n:\n    type: string\n    default: "1"\n')


def test_a_file_without_a_last_line_break_gets_one_with_a_new_line() -> None:
    assert apply({("b",): 1}, "a: 1") == "a: 1\nb: 1\n"
    assert apply({("a",): 2}, "a: 1") == "a: 2"
    assert apply({("a",): "b\nc\n"}, "a: 1") == "a: |\n  b\n  c\n"
    assert apply({("b",): REMOVED}, "a: 1\nb: 1") == "a: 1\n"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("a: &x 1\nb: *x\n", {("a",): 2}),  # the alias would lose its anchor
        ("a: &x {c: 1}\nb: *x\n", {("a", "c"): 2}),  # the alias would change too
        ("a: &x {c: 1}\nb: *x\n", {("b", "c"): 2}),
        ("? a\n: 1\n", {("a",): REMOVED}),
        ("a: 1\n", {("a", "b"): 2}),
        ("a:\n  - b: 1\n", {("a", 0, "b"): REMOVED}),
        ("a: [1, 2]\n", {("a", 5): 2}),
        ("- 1\n", {("a",): 2}),
    ],
)
def test_an_edit_that_would_change_more_is_refused(text: str, changes: dict[tuple[str | int, ...], Any]) -> None:
    with pytest.raises(InvalidSkill) as refused:
        apply(changes, text)
    assert refused.value.findings[0].rule == yaml_edits.RULE


def test_a_text_that_is_invalid_or_too_large_is_refused() -> None:
    with pytest.raises(InvalidSkill):
        apply({("a",): 1}, "a: [")
    with pytest.raises(TooLarge):
        apply({("a",): "x" * DEFAULT.frontmatter_bytes}, "a: 1\n")
