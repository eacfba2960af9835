"""Lists and fenced code, compared with a CommonMark parser."""

import re

import markdown
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from registry.web.render.markdown_lists import CommonLists
from tests import effort

_COMMON = MarkdownIt("commonmark", {"html": False})
_WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma"]), min_size=1, max_size=3).map(" ".join)


def ours(text: str) -> str:
    return _bare(markdown.markdown(text, extensions=[CommonLists()]))


def common(text: str) -> str:
    return _bare(_COMMON.render(text))


def _bare(html: str) -> str:
    """Remove invisible differences: paragraphs inside items, language names, white space around tags."""
    html = re.sub(r"</?p>| class=\"[^\"]*\"", " ", html)
    return re.sub(r"\s*(</?\w+[^>]*?)\s*>\s*", r"\1>", re.sub(r"\s+", " ", html)).strip()


@st.composite
def lists(draw: st.DrawFn, level: int = 0) -> list[str]:
    """Generate a list whose items contain paragraphs, code and lists."""
    numbered, apart = draw(st.booleans()), draw(st.booleans())
    out: list[str] = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        marker = f"{number}. " if numbered else "- "
        lines = [marker + draw(_WORDS)]
        for part in draw(st.lists(st.sampled_from(["list", "code", "sentence", "more"]), max_size=2)):
            lines += [" " * len(marker) + line if line else "" for line in _part(draw, part, level, lines[-1])]
        out += [""] * bool(out and apart) + lines
    return out


def _part(draw: st.DrawFn, part: str, level: int, before: str) -> list[str]:
    if part == "list" and level < 3:
        return draw(lists(level + 1))
    if part == "code":
        return ["```sh", draw(_WORDS), *[""] * draw(st.integers(0, 1)), f"  {draw(_WORDS)}", "```"]
    if part == "sentence":
        return ["", draw(_WORDS)]
    return [draw(_WORDS)] if before and "`" not in before else []


@st.composite
def documents(draw: st.DrawFn) -> str:
    out: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        out += [draw(_WORDS)] * draw(st.integers(0, 1)) + draw(lists()) + ["", draw(_WORDS), ""]
    return "\n".join(out)


@pytest.mark.slow
@settings(max_examples=effort.examples(50))
@given(documents())
def test_common_lists_render_as_in_commonmark(text: str) -> None:
    assert ours(text) == common(text)


@pytest.mark.parametrize(
    "text",
    [
        "It was in\n2024. That was a year.",
        "1) one\n2) two\n1. another",
        "- one\n+ another\n\n* * *\n- a third",
        "1. - both\n   - of it\n2. next",
        "- ```\n  code\n  ```\n- next",
        "```\nnever closed\n- no item",
        "- a\n  ```\n  cut off\nb",
        "- a\n# Heading\n- b",
        "-     code\n- text",
        "- a sentence\nthat goes on\n- next",
        "~~~~\n~~~\n~~~~~\n",
        "10. ten\n    - below\n\n      and more\n11. eleven",
        "    - no item\n    ```\n",
        "-\n- empty before",
    ],
)
def test_unusual_lists_render_as_in_commonmark(text: str) -> None:
    assert ours(text) == common(text)
