"""Hostile contents of pages: Markdown, text with invisible characters, and workflows."""

from collections.abc import Callable, Iterator

from registry.core.workflows.plan import Plan
from registry.web.render import markdown, marked_text, workflow_graph
from tests.core.workflows.graphs import chain, two_sides, window
from tests.costs.shape import KB, Shape, repeated

_LARGEST = 100 * KB  # longer texts are not rendered
# Over a bound, so that they are shown as they are.
_SHOWN = (
    "\\*",
    "***a",
    "*a*",
    "**a*b",
    "``a",
    "`a ",
    "<a@b>",
    "&a;",
    "[",
    "*a[)\n",
    "a\n: b\n",
    "> > ",
    "|a|b\n|-|-\n",
)
_RENDERED = (
    "`", "` `` ", "a*b_", "__a_ ", "<http://a>", "a  \n", "![a]", "[a]", "[a][b]", "[a]: b\n", "> a\n", "- a\n\n",
    "1. a\n", "* a\n  * b\n", "    a\n", "# a\n\n", "a\n=\n", "|a\n|-\n\n", "***\n", "```\n", "\n", "a ", "<", "(",
    "[a](b)", "[[a](b)](c)", "-\n", "+ a\n- b\n", "a\n\n: b\n\n", "a\n: b\n\n",
)  # fmt: skip
_MARKED = ("\u200b\u200d", "\ufe0f\u200b", "a\n", "\n", "<!---->", "\r", "a\u00ad")


def _text(unit: str) -> Callable[[int], str]:
    return lambda size: repeated(unit, size)


def _growing_ticks(size: int) -> str:
    """Return runs of backticks of which none closes another."""
    runs, length = [], 1
    while length * length < 2 * size:
        runs.append("`" * length)
        length += 1
    return " ".join(runs)


def _waiting(arrows: int) -> Plan:
    return window(500, arrows // 480)


def _two_sides(arrows: int) -> Plan:
    side = round(arrows**0.5)
    return two_sides(side, side, between=500 - 2 * side)


def _shapes() -> Iterator[Shape]:
    for unit in _SHOWN:
        largest = _LARGEST // 8 if "\n" in unit else _LARGEST  # more lines are not rendered
        yield Shape(f"Markdown {unit!r}", _text(unit), markdown.render, largest, quick=True)
    for unit in _RENDERED:
        yield Shape(f"Markdown {unit!r}", _text(unit), markdown.render, _LARGEST)
    for unit in _MARKED:
        yield Shape(f"source {unit!r}", _text(unit), marked_text.lines, 500 * KB)
        yield Shape(f"summary {unit!r}", _text(unit), marked_text.summary, 500 * KB)


SHAPES = (
    *_shapes(),
    Shape("Markdown with growing backticks", _growing_ticks, markdown.render, _LARGEST, quick=True),
    Shape("source of hidden characters", _text("\u200b\u200d"), marked_text.lines, 500 * KB, quick=True),
    Shape("source of short lines", _text("a\n"), marked_text.lines, 500 * KB, quick=True, light=True),
    # The size of a plan is the number of its arrows.
    Shape("chain of steps", lambda arrows: chain(arrows + 1), workflow_graph.draw, 499, small=100, quick=True),
    Shape(
        "steps that wait for all others", _waiting, workflow_graph.draw, 20 * KB, small=2 * KB, quick=True, light=True
    ),
    Shape("two sides of steps", _two_sides, workflow_graph.draw, 20 * KB, small=2 * KB, quick=True, light=True),
)
