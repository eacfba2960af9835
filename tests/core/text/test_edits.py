"""Edits of a skill, parsed from a diff, a text or files."""

from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidInput, InvalidRequest, TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.core.text import edits
from registry.core.text.patch import apply_patch


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


def test_the_files_of_a_request_are_counted_before_their_paths_are_compared() -> None:
    files = {f"{number}.md": "" for number in range(4)}
    with pytest.raises(TooLarge, match=r"The request changes 5 files\. 4 are allowed\. Change fewer files\."):
        edits.parse(files={"../a": "", **files}, limits=Limits(files=4))


def test_the_files_of_a_diff_and_of_the_result_are_counted() -> None:
    base, limits = Bundle({SKILL_MD: b"a\n"}), Limits(files=3)
    diff = "".join(f"--- /dev/null\n+++ b/{number}.md\n@@ -0,0 +1 @@\n+x\n" for number in range(4))
    with pytest.raises(TooLarge, match=r"The diff changes 4 files\. 3 are allowed\."):
        edits.apply(edits.parse(diff=diff), base, name="a", limits=limits)
    added = edits.parse(files={f"{number}.md": "" for number in range(3)})
    with pytest.raises(TooLarge, match=r"The skill would have 4 files\. 3 are allowed\."):
        edits.apply(added, base, name="a", limits=limits)


def test_a_hunk_of_lines_that_repeat_too_often_is_refused_with_the_number() -> None:
    text = "a\n" * 20_000
    patch = "@@ -99999,2001 +1,2000 @@\n" + " a\n" * 2_000 + "-b\n"
    known = f"{text}b\n{text}"
    with pytest.raises(InvalidInput, match="the lines that it changes do not exist"):
        apply_patch(text, patch)
    with pytest.raises(InvalidInput, match=r"repeat too often to search for them: more than 2,000,000 comparisons"):
        apply_patch(text, "@@ -99999,2000 +1,2000 @@\n" + " a\n" * 2_000)
    assert apply_patch(known, patch) == text + text
