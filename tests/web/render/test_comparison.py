"""Comparisons on pages: a long difference is cut, and the page says so."""

from registry.core.limits import DEFAULT
from registry.core.text import merge_bundles
from registry.web.render import comparison, marked_text
from registry.web.render.comparison import Comparison

LONG = {name: b"".join(b"%d\n" % number for number in range(5_000)) for name in ("a.md", "b.md", "c.md")}


def compare(first: str = "", pick: str = "") -> Comparison:
    return comparison.compare({}, LONG, limits=DEFAULT, first=first, pick=pick)


def test_a_page_shows_a_limited_number_of_lines_and_counts_all() -> None:
    compared = compare()
    assert [len(file.rows) for file in compared.files] == [4_000, 4_000, 0]
    assert [file.added for file in compared.files] == [5_000, 5_000, 5_000]
    assert compared.files[0].note == (
        "Only the first 4,000 lines are shown. Download both versions to compare the rest."
    )
    assert compared.files[2].note == ("A page shows at most 8,000 lines, so the lines of this file are not all shown.")


def test_the_lines_of_a_chosen_file_are_shown_first() -> None:
    compared = compare(first="c.md", pick="?file=")
    assert [len(file.rows) for file in compared.files] == [4_000, 0, 4_000]
    assert [file.link for file in compared.files] == ["", "?file=b.md", ""]


def test_the_lines_of_many_files_are_compared_up_to_a_number_of_bytes() -> None:
    files = {f"{number}.md": b"a\n" * 250_000 for number in range(10)}
    compared = comparison.compare({}, files, limits=DEFAULT, first="9.md", pick="?file=")
    notes = [file.note for file in compared.files]
    assert notes.count("A page compares at most 4 MiB, so the lines of this file are not shown.") == 2
    assert [file.link for file in compared.files[7:]] == ["?file=7.md", "?file=8.md", ""]
    assert len(compared.files[9].rows) == 4_000


def test_a_chosen_file_is_compared_even_if_the_others_are_too_large_together() -> None:
    files = {f"{number}.md": b"a\n" * 250_000 for number in range(10)}
    assert comparison.compare({}, files, limits=DEFAULT).files[9].rows == ()
    assert comparison.compare({}, files, limits=DEFAULT, first="9.md").files[9].rows


def test_a_long_conflict_is_cut_with_the_number_of_its_other_lines() -> None:
    base, theirs, mine = ({"a.md": (text * 3_000).encode()} for text in ("a\n", "b\n", "c\n"))
    (file,) = comparison.three_way(merge_bundles.merge(base, theirs, mine).open)
    (part,) = file.parts
    assert part.theirs.count("\n") == 1_000
    assert '<span class="unseen">2,000 more lines</span>' in part.theirs


def test_a_page_of_conflicts_shows_a_limited_number_of_lines() -> None:
    sides = ({f"{name}.md": (text * 3_000).encode() for name in range(9)} for text in ("a\n", "b\n", "c\n"))
    files = comparison.three_way(merge_bundles.merge(*sides).open)
    drawn = sum(
        side.count("\n") for file in files for part in file.parts for side in (part.base, part.theirs, part.mine)
    )
    assert drawn <= 8_000


def test_a_text_with_very_many_lines_is_cut_with_the_number_of_the_others() -> None:
    lines = marked_text.lines("a\n" * 10_000)
    assert [lines[-1].number, str(lines[-1].html)] == [10_000, "a"]
    lines = marked_text.lines("a\n" * 10_500)
    assert len(lines) == 10_001
    assert "500 more lines. Download the file to read everything." in lines[-1].html


def test_a_page_has_a_limited_number_of_boxes_for_hidden_characters() -> None:
    files = {f"{name}.md": ("a\u200bb\u200d" * 10 + "\n").encode() * 1_500 for name in "ab"}
    compared = comparison.compare({}, files, limits=DEFAULT)
    drawn = "".join(row.after or "" for file in compared.files for row in file.rows)
    assert drawn.count("unseen") == 20_000
    assert drawn.count("\u25a1") == 40_000
    assert not {"\u200b", "\u200d"} & set(drawn)
    assert {file.hidden for file in compared.files} == {"at least 20,000 hidden characters"}


def test_no_hidden_character_is_shown_as_nothing_however_many_there_are() -> None:
    text = "a\u200bb\u200d" * 15_000
    (line,) = marked_text.lines(text)
    assert not {"\u200b", "\u200d"} & set(line.html)
    assert line.html.count("unseen") == 20_000
    assert line.html.endswith("a\u25a1b\u25a1")
    assert marked_text.summary(text) == "at least 20,000 hidden characters"
    assert marked_text.summary(text[:40]) == "20 hidden characters"
