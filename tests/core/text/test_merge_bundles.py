"""Three-way merges of bundles lose nothing and guess nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.bundle import SKILL_MD
from registry.core.text.merge_bundles import MERGED_BYTES, MOST_CHOICES, merge
from tests import effort

contents = st.one_of(
    st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d"]), max_size=6).map(lambda lines: "".join(lines).encode()),
    st.sampled_from([b"\0", b"\xff", b"\0\xff"]),
)
bundles = st.dictionaries(st.sampled_from([SKILL_MD, "a.md", "b.bin", "c/d"]), contents, max_size=4)


@given(bundles, bundles)
@settings(max_examples=effort.examples(60))
def test_merging_an_unchanged_side_gives_the_other_side(base: dict[str, bytes], changed: dict[str, bytes]) -> None:
    for joined in (merge(base, changed, base), merge(base, base, changed), merge(base, changed, changed)):
        assert joined.clean
        assert joined.files({}) == changed


@given(bundles, bundles, bundles)
@settings(max_examples=effort.examples(100))
def test_answering_every_conflict_for_one_side_keeps_its_changes(
    base: dict[str, bytes], theirs: dict[str, bytes], mine: dict[str, bytes]
) -> None:
    joined = merge(base, theirs, mine)
    for side, word in ((theirs, "theirs"), (mine, "mine")):
        files = joined.files(dict.fromkeys(joined.keys, word))
        for file in joined.open:
            if file.whole:
                assert files.get(file.path) == side.get(file.path)
        for path in {*base, *theirs, *mine} - {file.path for file in joined.open}:
            assert files.get(path) == joined.settled.get(path)


@given(bundles, bundles, bundles)
@settings(max_examples=effort.examples(60))
def test_each_conflict_has_its_own_key(
    base: dict[str, bytes], theirs: dict[str, bytes], mine: dict[str, bytes]
) -> None:
    joined = merge(base, theirs, mine)
    assert len(set(joined.keys)) == len(joined.keys)
    assert joined.clean == (not joined.keys)
    assert all(file.keys for file in joined.open)


@pytest.mark.parametrize(
    ("base", "theirs", "mine"),
    [
        (b"a\n", b"b\n", b"c\n"),
        (b"\0", b"\0b", b"\0c"),
        (None, b"b", b"c"),
        (b"a\n", None, b"c\n"),
        (b"a\n", b"b\n", None),
    ],
)
def test_two_changes_of_one_line_are_always_a_conflict(
    base: bytes | None, theirs: bytes | None, mine: bytes | None
) -> None:
    given = [{} if content is None else {"a": content} for content in (base, theirs, mine)]
    joined = merge(*given)
    assert not joined.settled
    assert len(joined.keys) == 1


def test_changes_of_different_lines_merge_cleanly() -> None:
    joined = merge({"a": b"1\n2\n3\n"}, {"a": b"one\n2\n3\n"}, {"a": b"1\n2\nthree\n"})
    assert joined.files({}) == {"a": b"one\n2\nthree\n"}


def test_a_file_with_too_many_conflicts_is_a_choice_between_whole_files() -> None:
    def text(word: str, count: int) -> dict[str, bytes]:
        return {"a.md": "".join(f"{word}{number}\n={number}\n" for number in range(count)).encode()}

    (few,) = merge(text("a", MOST_CHOICES), text("b", MOST_CHOICES), text("c", MOST_CHOICES)).open
    assert len(few.choices) == MOST_CHOICES
    many = MOST_CHOICES + 1
    (whole,) = merge(text("a", many), text("b", many), text("c", many)).open
    assert whole.whole
    assert whole.resolve({whole.whole: "theirs"}) == text("b", many)["a.md"]


def test_texts_that_are_too_large_together_are_choices_between_whole_files() -> None:
    half = MERGED_BYTES // 6
    sides = [dict.fromkeys(("a.md", "b.md", "c.md"), word * half) for word in (b"a", b"b", b"c")]
    joined = merge(*sides)
    assert [bool(file.whole) for file in joined.open] == [False, False, True]
