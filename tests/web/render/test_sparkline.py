"""Seals and charts."""

import pytest
from hypothesis import given
from hypothesis import settings as law
from hypothesis import strategies as st

from registry.web.render.sparkline import bar_heights, seal_cells, trend
from tests import effort
from tests.web.drawing import draw

digests = st.text("0123456789abcdef", min_size=64, max_size=64)
counts = st.lists(st.integers(0, 10**9), max_size=60)


def test_a_seal_is_fifteen_bits_down_the_columns_and_mirrored():
    # 4f9c is 01001 11110 01110 0: left column, second column, middle column, and an unused bit.
    left = {(0, 1), (0, 4)} | {(1, 0), (1, 1), (1, 2), (1, 3)} | {(2, 1), (2, 2), (2, 3)}
    right = {(4, 1), (4, 4)} | {(3, 0), (3, 1), (3, 2), (3, 3)}
    assert set(seal_cells("sha256:4f9c21ab77e0")) == left | right


def test_a_seal_of_all_or_no_bits_is_full_or_empty():
    assert len(seal_cells("f" * 64)) == 25
    assert seal_cells("0" * 64) == []


@given(digests)
@law(max_examples=effort.examples(50))
def test_every_seal_is_symmetric_and_depends_on_fifteen_bits(digest):
    cells = seal_cells(digest)
    assert set(cells) == {(4 - column, row) for column, row in cells}
    other = f"{int(digest[:4], 16) ^ 1:04x}{digest[4:]}"
    assert seal_cells(other) == cells


@pytest.mark.parametrize("digest", ["4f9c", "sha256:", "zz9c21ab77e0", "4F9C21AB77E0", "sha512:4f9c21ab77e0"])
def test_an_invalid_digest_has_no_seal(digest):
    with pytest.raises(ValueError, match="12 or more hex digits"):
        seal_cells(digest)


def test_a_seal_shows_twelve_digits_and_is_empty_without_a_digest():
    assert draw("{% seal d %}", d="sha256:4f9c21ab77e0ffff").endswith("</svg>4f9c21ab77e0</span>")
    assert draw("{% seal d %}", d="") == ""


# -- Charts ------------------------------------------------------------------------------------------------


@given(counts)
@law(max_examples=effort.examples(50))
def test_bars_keep_their_order_and_fit_the_chart(values):
    heights = bar_heights(values)
    assert all((height == 0) == (value == 0) for height, value in zip(heights, values, strict=True))
    assert all(0 <= height <= 17 for height in heights)
    assert max(heights, default=0) == (17 if any(values) else 0)
    ranked = sorted(zip(values, heights, strict=True))
    assert [height for _, height in ranked] == sorted(heights)


@pytest.mark.parametrize(
    ("values", "said", "bars"),
    [
        ([], "No loads in the last 0 days", ""),
        ([0] * 30, "No loads in the last 30 days", ""),
        ([1, 0, 0], "1 load in the last 3 days", "M1 19v-17"),
        ([5, 5, 5], "15 loads in the last 3 days, steady", "M1 19v-17M4 19v-17M7 19v-17"),
        ([1, 10**9], "1,000,000,001 loads in the last 2 days", "M1 19v-1M4 19v-17"),
    ],
)
def test_a_sparkline_has_a_text_for_screen_readers(values, said, bars):
    html = draw("{% sparkline values %}", values=values)
    assert f'aria-label="{said}"' in html
    assert f'<path d="{bars}"/>' in html


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([], ""),
        ([4, 4], ""),
        ([1, 1, 1], ""),
        ([9, 1, 1], "falling"),
        ([1, 1, 9], "rising"),
        ([5, 9, 5], "steady"),
    ],
)
def test_a_trend_compares_the_last_third_with_the_first(values, word):
    assert trend(values) == word


@pytest.mark.parametrize(
    ("value", "expected", "unexpected"),
    [
        (0, ["0 tokens", "of 5,000 recommended", 'meter-a" width="0"'], ["meter-tick"]),
        (5000, ["of 5,000 recommended", 'meter-a" width="100"'], ["Long"]),
        (5001, ["Long, 1 over the recommended length", "meter-warn", 'meter-tick" x="62.5"'], ["of 5,000 recommended"]),
        (8000, ["Long, 3,000 over the recommended length", 'meter-warn" width="100"'], ["Too long"]),
        (8001, ["Too long, split it", "meter-danger"], ["over the recommended length"]),
    ],
)
def test_the_text_of_a_meter_changes_with_its_colour(value, expected, unexpected):
    html = draw("{% meter value 5000 8000 %}", value=value)
    assert all(part in html for part in expected)
    assert not any(part in html for part in unexpected)


def test_a_stacked_meter_over_its_limit_stays_inside_the_bar():
    html = draw("{% stacked_meter parts limit=100 %}", parts=[("Project", 150), ("Built-in", 50)])
    assert 'x="0" width="75"' in html
    assert 'x="75" width="25"' in html
    assert "200 of 100 tokens: 150 Project, 50 Built-in" in html


def test_a_meter_without_a_limit_is_empty():
    assert 'width="0"' in draw("{% meter_bar 5 0 %}")
