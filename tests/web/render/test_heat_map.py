"""The heat map of confused skills."""

from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing.metrics import Confused
from registry.web.render.heat_map import heat_map

NAMES = st.sampled_from(["", "a", "b", "c", "d", "e"])
PAIRS = st.dictionaries(st.tuples(NAMES, NAMES), st.integers(1, 9), max_size=20)


def test_the_most_confused_skills_are_shown_and_the_others_summed_up() -> None:
    found = heat_map(
        [Confused("a", "b", 4), Confused("c", "c", 9), Confused("d", "a", 1), Confused("", "d", 2)], most=2
    )
    assert [name.label for name in found.columns] == ["a", "b", "no skill", "others"]
    assert found.hidden == 2
    counts = {row.name.label: [cell.count for cell in row.cells] for row in found.rows}
    assert counts["a"] == [0, 4, 0, 0]
    assert counts["others"] == [1, 0, 0, 0], "the right answers of c are no confusion"
    assert counts["no skill"] == [0, 0, 0, 2]


def test_other_skills_are_left_out_if_they_are_never_confused() -> None:
    found = heat_map([Confused("a", "b", 1), Confused("c", "c", 3)], most=2)
    assert [name.label for name in found.columns] == ["a", "b", "no skill"]
    assert found.hidden == 1


def test_the_diagonal_is_right_and_the_largest_number_is_darkest() -> None:
    found = heat_map([Confused("a", "a", 8), Confused("a", "", 1)], most=5)
    first, missed = found.rows[0].cells
    assert (first.right, first.shade) == (True, 4)
    assert (missed.right, missed.shade) == (False, 1)


def test_an_empty_report_is_a_table_of_nothing() -> None:
    assert [cell.count for row in heat_map([], most=5).rows for cell in row.cells] == [0]


@given(PAIRS, st.integers(1, 6))
def test_every_wrong_answer_is_in_the_table(pairs: dict[tuple[str, str], int], most: int) -> None:
    confused = [Confused(*names, count) for names, count in pairs.items()]
    found = heat_map(confused, most=most)
    wrong = sum(cell.count for row in found.rows for cell in row.cells if not cell.right)
    assert wrong == sum(count for (expected, picked), count in pairs.items() if expected != picked)
    assert all(len(row.cells) == len(found.columns) for row in found.rows)
    assert all((cell.shade == 0) == (cell.count == 0) for row in found.rows for cell in row.cells)
