"""Words that a search hit, marked in a text."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.web.render.search_hits import from_hit, marked


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("pod-crash-triage", ("pod",), "<mark>pod</mark>-crash-triage"),
        ("Pods and a podium", ("pods",), "<mark>Pods</mark> and a podium"),
        ("a pod, a pod", ("pod",), "a <mark>pod</mark>, a <mark>pod</mark>"),
        ("請求書を書く", ("請求", "求書"), "<mark>請求書</mark>を書く"),
        ("nothing here", ("pod",), "nothing here"),
        ("nothing here", (), "nothing here"),
        ("nothing here", ("",), "nothing here"),
        ("C++ and c.x", ("c.",), "C++ and c.x"),
        ("<b>pod</b>", ("pod",), "&lt;b&gt;<mark>pod</mark>&lt;/b&gt;"),
        ("a <b> tag", ("b",), "a &lt;<mark>b</mark>&gt; tag"),
        ("fish & chips", ("amp",), "fish &amp; chips"),
    ],
)
def test_whole_words_are_marked_and_the_rest_is_escaped(text: str, words: tuple[str, ...], shown: str) -> None:
    assert marked(text, words) == shown


@given(st.text(), st.lists(st.text(max_size=5), max_size=5))
def test_without_the_marks_the_text_is_unchanged(text: str, words: list[str]) -> None:
    shown = marked(text, words)
    assert html.unescape(re.sub("</?mark>", "", shown)) == html.unescape(html.escape(text))
    assert shown.count("<mark>") == shown.count("</mark>")


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("A short text about refunds", ["refunds"], "A short text about refunds"),
        ("Nothing of it is in this rather long text of a skill", ["refund"], None),
        (
            "How to answer people who write the third time about a refund",
            ["refund"],
            "…the third time about a refund",
        ),
        ("x" * 60 + "-refund", ["refund"], "…refund"),
    ],
)
def test_a_line_starts_shortly_before_a_hit_that_is_far_away(text: str, words: list[str], shown: str | None) -> None:
    assert from_hit(text, words) == (text if shown is None else shown)
