"""Numbers, sizes and times as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from registry.templatetags import ui
from registry.web import humanize
from tests.web.drawing import draw

NOW = datetime(2026, 11, 16, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "plain", "change"),
    [(0, "0", "0"), (72, "72", "+72"), (-38, "−38", "−38"), (1_234_567, "1,234,567", "+1,234,567")],
)
def test_numbers_have_commas_and_changes_a_sign(value, plain, change):
    assert (humanize.number(value), humanize.signed(value)) == (plain, change)


@pytest.mark.parametrize(
    ("value", "noun", "said"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (1204, "file", "1,204 files"),
        (2, "match,matches", "2 matches"),
    ],
)
def test_a_count_agrees_with_its_noun(value, noun, said):
    assert humanize.counted(value, noun) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"),
        (14_336, "14 KiB"), (10_188, "9.9 KiB"), (10_189, "10 KiB"), (1_048_063, "1,023 KiB"),
        (1_048_575, "1 MiB"), (8_598_323, "8.2 MiB"), (50 * 1024**2, "50 MiB"), (3 * 1024**4, "3,072 GiB"),
    ],
)  # fmt: skip
def test_sizes_are_short_and_never_reach_the_next_unit(size, said):
    assert humanize.filesize(size) == said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("There is no skill 'tea-round' in this project.", "There is no skill “tea-round” in this project."),
        ("\"it's\" has no version '1'.", "“it's” has no version “1”."),
        ("The project's skill isn't theirs.", "The project's skill isn't theirs."),
    ],
)
def test_straight_quotes_become_curly(told, said):
    assert ui.curly(told) == said


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=13, hours=23), "13 days ago"),
        (timedelta(days=14), "2 weeks ago"),
        (timedelta(days=29, hours=23), "4 weeks ago"),
        (timedelta(days=30), "17 Oct"),
        (timedelta(days=63), "14 Sep"),
        (timedelta(days=365), "16 Nov 2025"),
        (-timedelta(seconds=30), "in less than a minute"),
        (-timedelta(hours=5), "in 5 hours"),
        (-timedelta(days=6, hours=23, minutes=59, seconds=58), "in 7 days"),
        (-timedelta(days=6, hours=11), "in 6 days"),
        (-timedelta(hours=23, minutes=59, seconds=59), "in 1 day"),
        (-timedelta(minutes=59, seconds=59), "in 1 hour"),
        (-timedelta(days=30), "16 Dec"),
        (-timedelta(days=60), "15 Jan 2027"),
    ],
)
def test_times_are_relative_up_to_a_month_and_then_a_date(ago, said):
    assert humanize.relative(NOW - ago, NOW) == said


def test_the_markup_has_the_exact_time_in_utc():
    moment = datetime(2026, 11, 16, 12, 0, tzinfo=UTC).astimezone()
    html = draw("{{ moment|reltime:now }}", moment=moment, now=NOW)
    assert html == '<time datetime="2026-11-16T12:00:00Z" title="16 Nov 2026, 12:00 UTC">2 hours ago</time>'


def test_no_time_is_empty_and_an_age_counts_up():
    assert draw("{{ moment|reltime }}", moment=None) == ""
    assert ">6 days old<" in draw("{{ moment|age:now }}", moment=NOW - timedelta(days=6), now=NOW)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 ms"), (0, "0 ms"), (0.0421, "42 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (6.04, "6 s"),
        (6.06, "6.1 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"), (243, "4 min 3 s"), (3_599.7, "1 h"),
        (7_500, "2 h 5 min"), (172_800, "2 days"),
    ],
)  # fmt: skip
def test_a_duration_has_the_units_that_matter(seconds: float, text: str) -> None:
    assert humanize.duration(seconds) == text
