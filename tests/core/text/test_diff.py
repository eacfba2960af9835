"""Diffs, patches and merges lose nothing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.errors import InvalidInput
from registry.core.text import diff
from registry.core.text.diff import Fold, Row
from registry.core.text.patience_diff import match, split_lines
from tests import effort

# Few different lines, so that they repeat; line ends of both kinds, and sometimes none at the end.
_WORDS = ["a", "b", "c d", "- x", "+ y", "-- z", "++ z", "@@ -1 +1 @@", "\\ w", "", " "]
texts = st.builds(
    lambda lines, end, last: end.join(lines) + last,
    st.lists(st.sampled_from(_WORDS), max_size=14), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]),
)  # fmt: skip
texts |= st.text(st.sampled_from("ab \n\r\t\u2028\x0c"), max_size=30)


def sides(rows: tuple[Row, ...]) -> tuple[str, str]:
    before = "".join("".join(t for t, _ in r.before) + r.before_end for r in rows if r.before_line)
    return before, "".join("".join(t for t, _ in r.after) + r.after_end for r in rows if r.after_line)


def test_a_changed_line_marks_its_words() -> None:
    (row,) = diff.lines("pay within 30 days\n", "pay within 14 days\n")
    assert (row.kind, row.before_line, row.after_line) == ("changed", 1, 1)
    assert row.before == (("pay within ", False), ("30", True), (" days", False))
    assert row.after == (("pay within ", False), ("14", True), (" days", False))


def test_similar_lines_are_paired() -> None:
    rows = diff.lines("keep the receipts\nold rule\n", "brand new heading\nkeep all the receipts\n")
    assert [(row.kind, row.before_line, row.after_line) for row in rows] == [
        ("added", None, 1), ("changed", 1, 2), ("removed", 2, None),
    ]  # fmt: skip


def test_different_lines_are_not_paired() -> None:
    assert [row.kind for row in diff.lines("alpha\n", "omega\n")] == ["removed", "added"]


def test_a_missing_line_ending_is_a_change() -> None:
    (row,) = diff.lines("a\n", "a")
    assert (row.kind, row.before_end, row.after_end) == ("changed", "\n", "")
    (row,) = diff.lines("a\r\n", "a\n")
    assert (row.kind, row.before_end, row.after_end) == ("changed", "\r\n", "\n")


def test_equal_texts_have_only_equal_rows() -> None:
    assert {row.kind for row in diff.lines("a\nb\n", "a\nb\n")} == {"equal"}
    assert diff.lines("", "") == ()


@given(texts, texts)
@settings(max_examples=effort.examples(80))
def test_the_rows_contain_both_texts_completely(before: str, after: str) -> None:
    rows = diff.lines(before, after)
    assert sides(rows) == (before, after)
    assert [row.before_line for row in rows if row.before_line] == list(range(1, len(split_lines(before)) + 1))
    assert [row.after_line for row in rows if row.after_line] == list(range(1, len(split_lines(after)) + 1))
    assert all(row.before == row.after and row.before_end == row.after_end for row in rows if row.kind == "equal")


@given(texts, texts, st.integers(0, 4))
@settings(max_examples=effort.examples(80))
def test_a_fold_contains_only_equal_rows(before: str, after: str, context: int) -> None:
    rows, at = diff.lines(before, after), 0
    for each in diff.LineDiff(before, after).rows(context):
        size = each.size if isinstance(each, Fold) else 1
        if isinstance(each, Fold):
            assert {row.kind for row in rows[at : at + size]} == {"equal"}
            assert size > 1
        else:
            assert each == rows[at]
        at += size
    assert at == len(rows)


def test_context_lines_are_not_folded() -> None:
    before = "".join(f"{n}\n" for n in range(100))
    folded = diff.LineDiff(before, before.replace("50\n", "fifty\n")).rows(context=3)
    assert [each.size if isinstance(each, Fold) else each.kind for each in folded] == [
        47, "equal", "equal", "equal", "removed", "added", "equal", "equal", "equal", 46,
    ]  # fmt: skip


def test_each_file_has_its_status_and_skill_md_is_first() -> None:
    before = {"SKILL.md": b"a\n", "gone.md": b"g", "kept.md": b"k", "old/name.md": b"moved", "img.png": b"\0\1"}
    after = {"SKILL.md": b"b\n", "new.md": b"n", "kept.md": b"k", "new/name.md": b"moved", "img.png": b"\0\2"}
    changes = diff.files(before, after)
    assert [(c.path, c.status, c.binary, bool(c.lines)) for c in changes] == [
        ("SKILL.md", "changed", False, True), ("gone.md", "removed", False, True), ("img.png", "changed", True, False),
        ("kept.md", "equal", False, False), ("new.md", "added", False, True), ("new/name.md", "renamed", False, False),
    ]  # fmt: skip
    assert changes[-1].before_path == "old/name.md"


def test_a_file_that_becomes_binary_has_no_rows() -> None:
    (change,) = diff.files({"a": b"text"}, {"a": b"\xff\xfe"})
    assert (change.status, change.binary, change.lines) == ("changed", True, None)


def test_a_copy_is_not_a_rename_and_one_file_is_renamed_once() -> None:
    assert [c.status for c in diff.files({"a": b"x"}, {"a": b"x", "b": b"x"})] == ["equal", "added"]
    assert [c.status for c in diff.files({"a": b"x"}, {"b": b"x", "c": b"x"})] == ["renamed", "added"]


def test_unified_writes_a_standard_unified_diff() -> None:
    before = "".join(f"{n}\n" for n in range(1, 11))
    assert diff.unified(before, before.replace("5\n", "five\n"), "SKILL.md") == (
        "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )
    assert diff.unified("a", "a\n", "x") == "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"
    assert diff.unified("a\n", "a\n", "x") == ""


@given(texts, texts)
@settings(max_examples=effort.examples(80))
def test_applying_a_patch_gives_the_other_text(before: str, after: str) -> None:
    assert diff.apply_patch(before, diff.unified(before, after, "SKILL.md")) == after


@given(texts, texts, texts)
@settings(max_examples=effort.examples(80))
def test_a_patch_applies_to_another_text_or_is_refused(before: str, after: str, other: str) -> None:
    patch = diff.unified(before, after, "SKILL.md")
    try:
        result = diff.apply_patch(other, patch)
    except InvalidInput as error:
        assert "Hunk" in error.message
    else:
        assert other != before or result == after


def test_a_patch_applies_to_lines_that_have_moved() -> None:
    patch = diff.unified("a\nb\nc\n", "a\nB\nc\n", "x")
    assert diff.apply_patch("new\nnew\na\nb\nc\n", patch) == "new\nnew\na\nB\nc\n"


def test_a_patch_with_wrong_line_counts_is_parsed_by_its_marks() -> None:
    assert diff.apply_patch("a\n\nb\n", "@@ -1,9 +1,9 @@\n a\n\n-b\n+c\n") == "a\n\nc\n"
    assert diff.apply_patch("a\nb\n", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ heading\n a\n-b\n+c") == "a\nc\n"


def test_the_error_for_a_hunk_that_does_not_fit_shows_the_current_text() -> None:
    before = "".join(f"line {n}\n" for n in range(40))
    patch = diff.unified(before, before.replace("line 3\n", "three\n").replace("line 30\n", "thirty\n"), "x")
    with pytest.raises(InvalidInput, match=r"Hunk 2 \(@@ -28,7 \+28,7 @@\) does not fit") as caught:
        diff.apply_patch(before.replace("line 31\n", "moved on\n"), patch)
    assert "   28  line 27" in caught.value.message
    assert caught.value.data == {"hunk": 2, "line": 28}


def test_the_error_shows_the_closest_place_if_the_line_number_is_wrong() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 60))
    with pytest.raises(InvalidInput, match="The text around line 20 is now") as caught:
        diff.apply_patch(text, "@@ -48,4 +48,4 @@\n line 20\n line 21\n-line twenty-two\n+line XXII\n line 23\n")
    assert caught.value.data == {"hunk": 1, "line": 20}
    assert "   22  line 22\n" in caught.value.message
    assert "line 48" not in caught.value.message


def test_the_error_shows_the_line_of_the_head_if_nothing_matches() -> None:
    text = "same\n" * 50 + "other\n"
    with pytest.raises(InvalidInput, match="The text around line 30 is now"):
        diff.apply_patch(text, "@@ -30,2 +30,1 @@\n same\n-gone\n")


@pytest.mark.parametrize(
    ("text", "patch", "reason"),
    [
        ("b\nx\nb\nx\n", "@@ -9,1 +9,1 @@\n-x\n+y\n", "2 places"),
        ("", "@@ -1,1 +1,1 @@\n-x\n+y\n", "the text is empty"),
        ("a\n", "@@ -7,0 +8,1 @@\n+y\n", "does not fit"),
        ("a\n", "just words\n", "no hunk"),
        ("a\n", "@@ @@\n-a\n+b\n", "does not name its lines"),
        ("a\n", "@@ -1,1 +1,1 @@\n-a\n+b\n--- a/y\n+++ b/y\n", "second file"),
        ("a\n", "@@ -1,1 +1,1 @@\n-a\n+b\n@@ -1,1 +1,1 @@\n-a\n+c\n", "Hunk 2"),
    ],
)
def test_an_ambiguous_patch_is_refused(text: str, patch: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        diff.apply_patch(text, patch)


def test_changes_in_different_places_merge() -> None:
    merged = diff.merge3("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")
    assert (merged.clean, merged.text) == (True, "A\nb\nc\nd\nE\n")
    assert [block.kind for block in merged.blocks] == ["theirs", "same", "mine"]


def test_different_changes_of_the_same_line_are_a_conflict() -> None:
    merged = diff.merge3("a\nb\nc\n", "a\nB\nc\n", "a\nβ\nc\n")
    assert (merged.clean, merged.text) == (False, None)
    (block,) = (block for block in merged.blocks if block.kind == "conflict")
    assert (block.base, block.theirs, block.mine) == ("b\n", "B\n", "β\n")


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    merged = diff.merge3("a\nb\n", "a\nB\n", "a\nB\n")
    assert (merged.text, [block.kind for block in merged.blocks]) == ("a\nB\n", ["same", "both"])


def test_a_line_that_one_removes_and_the_other_changes_is_a_conflict() -> None:
    assert not diff.merge3("a\nb\nc\n", "a\nc\n", "a\nB\nc\n").clean


@given(texts, texts)
@settings(max_examples=effort.examples(80))
def test_a_merge_with_an_unchanged_side_gives_the_other_side(base: str, other: str) -> None:
    assert diff.merge3(base, other, base).text == other
    assert diff.merge3(base, base, other).text == other
    assert diff.merge3(base, other, other).text == other


@given(texts, texts, texts)
@settings(max_examples=effort.examples(80))
def test_joined_blocks_give_back_all_three_texts(base: str, theirs: str, mine: str) -> None:
    merged = diff.merge3(base, theirs, mine)
    assert "".join(block.base for block in merged.blocks) == base
    assert "".join(block.theirs for block in merged.blocks) == theirs
    assert "".join(block.mine for block in merged.blocks) == mine
    assert merged.clean is (merged.text is not None) is all(b.kind != "conflict" for b in merged.blocks)


@given(st.lists(st.sampled_from("abcdef"), max_size=30), st.lists(st.sampled_from("abcdef"), max_size=30))
@settings(max_examples=effort.examples(80))
def test_a_matching_pairs_equal_items_in_order(before: list[str], after: list[str]) -> None:
    i = j = 0
    for run in match(before, after).runs:
        assert run.before >= i and run.after >= j and run.size
        i, j = run.before + run.size, run.after + run.size
        assert before[run.before : i] == after[run.after : j]


chance = random.Random(1)
NUMBERED = [f"line {n}" for n in range(3_000)]
HOSTILE = {
    "every other line changed": (NUMBERED, [f"{x}!" if n % 2 else x for n, x in enumerate(NUMBERED)]),
    "nothing in common": (NUMBERED, [f"other {n}" for n in range(3_000)]),
    "two lines over and over": (["a", "b"] * 1_500, ["b", "a", "a"] * 1_000),
    "shuffled": (NUMBERED, chance.sample(NUMBERED, len(NUMBERED))),
    "one long line": (["word " * 20_000 + "end"], ["word " * 15_000 + "stop " + "word " * 4_000]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_pair_of_texts_is_diffed_completely(kind: str) -> None:
    before, after = ("\n".join(lines) for lines in HOSTILE[kind])
    (change,) = diff.files({"a": before.encode()}, {"a": after.encode()})
    assert change.lines is not None
    assert sides(tuple(row for row in change.lines.rows() if isinstance(row, Row))) == (before, after)


def test_a_diff_that_was_not_compared_in_detail_is_coarse() -> None:
    before, after = ("\n".join(lines) for lines in HOSTILE["two lines over and over"])
    (change,) = diff.files({"a": before.encode()}, {"a": after.encode()})
    assert change.lines is not None
    assert change.lines.coarse
    assert not diff.LineDiff("x\ny\n", "x\nz\n").coarse
