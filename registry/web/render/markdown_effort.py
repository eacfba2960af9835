"""Bounds on the work of Python-Markdown, counted before the work is done.

The time of the parser grows with the product of marks and length in some texts, and the sanitiser needs a long time
for each element. A text over a bound is shown as it is.
"""

import re
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_SQUARE, _ROUND = re.compile(r"[\[\]]"), re.compile(r"[()]")
_BLOCK_MARKS = re.compile(r"^ {0,3}(?:#|>|=+\s*$|: |(?:[-*_] ?)+\s*$)", re.MULTILINE)
_DEFINITIONS = re.compile(r"^ {0,3}: ", re.MULTILINE)
_MOST_NESTED = 32  # the parser nests each definition of a block in the one before it
_QUOTES = re.compile(rf"^(?: {{0,3}}>){{{_MOST_NESTED + 1}}}", re.MULTILINE)
_PER_MARK = 64  # relative cost of a heading against a bracket, measured
_MOST_LOOKAHEAD = 2_000_000
_MOST_CHARS = 100_000
_MOST_LINES = 5_000  # the sanitiser is slow for many siblings
_MOST_CELLS = 8_000  # of tables; the parser fills short rows up with empty cells

_INLINE_MARKS = "*_`\\&"
_MOST_MARKS = 12_000
_ADDRESS_MARKS = 3  # an address in angle brackets costs as much as three other marks
_MOST_RESCANNED = 600_000_000  # product of the marks and the characters of a paragraph, for all paragraphs


class TooSlow(Exception):
    """Rendering would take too long."""


def check(text: str) -> None:
    """Raise TooSlow if the blocks of the text would take too long to parse."""
    if len(text) > _MOST_CHARS or text.count("\n") > _MOST_LINES or _QUOTES.search(text):
        raise TooSlow
    blocks = _BLANK_LINES.split(text)
    definitions = max(len(_DEFINITIONS.findall(block)) for block in blocks)
    if definitions > _MOST_NESTED or _cells(blocks) > _MOST_CELLS or _lookahead(blocks) > _MOST_LOOKAHEAD:
        raise TooSlow


def _cells(blocks: list[str]) -> int:
    """Return an upper bound for the table cells, as if each block were a table with equal rows."""
    return sum(len(lines) * max(line.count("|") for line in lines) for lines in (block.split("\n") for block in blocks))


def _lookahead(blocks: list[str]) -> int:
    """Estimate how many characters the parser scans again: it starts anew at each heading, quote, rule and term."""
    return sum(len(_BLOCK_MARKS.findall(block)) * len(block) // _PER_MARK for block in blocks)


def _scanned(text: str) -> int:
    """Return how many characters the parser scans for the ends of brackets. An open bracket is sought to the end."""
    total = 0
    for pair in (_SQUARE, _ROUND):
        open_at: list[int] = []
        for bracket in pair.finditer(text):
            if bracket[0] in "[(":
                open_at.append(bracket.start())
            elif open_at:
                total += bracket.start() - open_at.pop()
        total += len(text) * len(open_at) - sum(open_at)
    return total


class BoundedInline(Extension):
    """Raises TooSlow before the inline patterns of a paragraph are searched."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - named by the library
        md.treeprocessors.register(_Counter(md), "effort", 21)  # directly before `inline`


class _Counter(Treeprocessor):
    def run(self, root: Element) -> None:
        marks_in_all = rescanned = scanned = 0
        for element in root.iter():
            for text in (element.text, element.tail):
                if text and not isinstance(text, AtomicString):
                    marks = sum(map(text.count, _INLINE_MARKS)) + _ADDRESS_MARKS * text.count("<")
                    marks_in_all += marks
                    rescanned += marks * len(text)
                    scanned += _scanned(text)
        if marks_in_all > _MOST_MARKS or rescanned > _MOST_RESCANNED or scanned > _MOST_LOOKAHEAD:
            raise TooSlow
