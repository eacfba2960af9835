"""Items of a list are added, copied, moved and removed with their lines."""

import pytest

from registry.core.errors import InvalidSkill
from registry.core.format.yaml_items import ListText

TEXT = """\
id: a
steps:
  # first
  - id: one
    input: {a: 1}

  # second
  # more
  - id: two
    text: |
      x
  # stray

  -
    id: three
# end
out: 1
"""
NEW = {"id": "new", "uses": "a.b", "input": {"a": "x\ny", "b": [1]}}
ADDED = "  - id: new\n    uses: a.b\n    input:\n      a: |-\n        x\n        y\n      b: [1]\n"


def steps(text: str) -> ListText:
    return ListText(text, ("steps",), "workflow.yaml")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_new_item_has_the_blank_line_of_its_neighbours(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    first, last = TEXT.index("  # first"), TEXT.index("# end")
    assert steps(text).insert(0, NEW) == f"{TEXT[:first]}{ADDED}\n{TEXT[first:]}".replace("\n", newline)
    assert steps(text).insert(3, NEW) == f"{TEXT[:last]}\n{ADDED}{TEXT[last:]}".replace("\n", newline)


def test_an_item_is_copied_with_its_comments() -> None:
    copied = steps(TEXT).copy(0, {("id",): "four"})
    assert copied == TEXT.replace("\n  # second", "\n  # first\n  - id: four\n    input: {a: 1}\n\n  # second")


def test_an_item_is_moved_with_its_comments() -> None:
    moved = steps(TEXT).move_up(1)
    one, two = TEXT.index("  # first"), TEXT.index("  # second")
    end = TEXT.index("  # stray")
    assert moved == TEXT[:one] + TEXT[two:end] + "\n" + TEXT[one : two - 1] + TEXT[end:]
    assert steps(moved).move_up(1) == TEXT


def test_an_item_is_removed_with_its_comments() -> None:
    assert steps(TEXT).remove(0) == TEXT.replace("  # first\n  - id: one\n    input: {a: 1}\n\n", "")
    assert steps(TEXT).remove(2) == TEXT.replace("  # stray\n\n  -\n    id: three\n", "")
    assert steps("steps:\n  - id: a  # a\nb: 1\n").remove(0) == "steps: []\nb: 1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps: []  # none\n", "steps:  # none\n  - id: new\n"),
        ("steps:\n", "steps:\n  - id: new\n"),
        ("steps:", "steps:\n  - id: new"),
        ("a: 1", "a: 1\nsteps:\n  - id: new"),
        ("a: 1\nsteps: []\nb: 1\n", "a: 1\nsteps:\n  - id: new\nb: 1\n"),
        ("steps:\n- id: a", "steps:\n- id: a\n- id: new"),
    ],
)
def test_the_first_or_last_item_is_added(text: str, expected: str) -> None:
    assert steps(text).insert(text.count("- id"), {"id": "new"}).rstrip("\n") == expected.rstrip("\n")


@pytest.mark.parametrize("text", ["steps: [{id: a}, {id: b}]\n", "steps: {a: 1}\n", "steps: x\n", "- 1\n"])
def test_a_list_without_lines_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(InvalidSkill):
        steps(text).insert(0, NEW)


def test_an_item_whose_anchor_is_used_is_not_removed() -> None:
    text = "steps:\n  - id: a\n    input: &x {a: 1}\n  - id: b\n    input: *x\n"
    with pytest.raises(InvalidSkill):
        steps(text).remove(0)
    with pytest.raises(InvalidSkill):
        steps(text).move_up(1)
