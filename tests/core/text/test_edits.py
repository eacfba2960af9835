"""Edits of a skill, parsed from a diff, a text or files."""

from typing import Any

import pytest

from registry.core.errors import InvalidRequest, UnsafePath
from registry.core.text import edits


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "none of them"),
        ({"diff": "x", "skill_md": "y"}, "diff and skill_md"),
        ({"diff": "  "}, "at least one hunk"),
        ({"diff": 3}, "must be a unified diff"),
        ({"files": {}}, "at least one path"),
        ({"files": ["a"]}, "at least one path"),
        ({"files": {"a.md": 3}}, "send its text"),
        ({"files": {"a.md": {"base64": "?"}}}, "base64 text is invalid"),
        ({"files": {"a.md": {"text": "x"}}}, "send its text"),
        ({"skill_md": "a\nb\ud800"}, "SKILL.md, line 2"),
    ],
)
def test_an_edit_that_cannot_be_read_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        edits.parse(**given)


def test_a_path_out_of_the_skill_is_refused_before_anything_is_read() -> None:
    with pytest.raises(UnsafePath):
        edits.parse(files={"../../etc/passwd": "x"})
