"""Lists and fenced code with the rules of CommonMark, for Python-Markdown.

In CommonMark, lines that are aligned with the text of an item belong to the item, and a list or a fence may follow a
paragraph without a blank line. Python-Markdown requires four spaces per level, a blank line before a list, and fences
without indentation; code below a step would end the list there.
"""

import re
from html import escape
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.util import STX

_MOST_LEVELS = 30
_CODE = 4  # columns of indentation that make a line code
_MARKER = re.compile(r" {0,3}(?:(?P<bullet>[-+*])|(?P<number>\d{1,9})(?P<dot>[.)]))(?P<gap> +|$)(?P<text>.*)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$")
_FENCE = re.compile(r"(?P<lead> {0,3})(?P<sign>`{3,}(?=[^`]*$)|~{3,})")
_OPENS = re.compile(r" {0,3}(?:#{1,6}(?: |$)|>)")


class CommonLists(Extension):
    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - named by the library
        md.preprocessors.register(_Fences(md), "fences", 25)
        for name in ("indent", "olist", "ulist"):
            md.parser.blockprocessors.deregister(name)
        md.parser.blockprocessors.register(_Lists(md.parser), "lists", 40)


def _item(line: str) -> re.Match[str] | None:
    return None if _RULE.match(line) else _MARKER.match(line)


def _column(marker: re.Match[str]) -> int:
    """Return the column of an item's text: after the gap, or one column after the marker if code follows."""
    gap = len(marker["gap"]) if marker["text"] and len(marker["gap"]) <= _CODE else 1
    return marker.start("gap") + gap


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_code(line: str) -> bool:
    """Tell whether the line is a placeholder for fenced code."""
    return line.lstrip().startswith(STX)


def _continues(line: str) -> bool:
    """Tell whether the line continues the paragraph before it, whatever its indentation."""
    line = line.lstrip()
    return not (_item(line) or _RULE.match(line) or _FENCE.match(line) or _OPENS.match(line) or _is_code(line))


class _Fences(Preprocessor):
    """Replaces fenced code with placeholders, before its blank lines split the text into blocks."""

    def run(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        columns: list[int] = []  # text columns of the items that contain the line
        at = 0
        while at < len(lines):
            start = _under(lines[at], columns, lines[at - 1] if at else "")
            fence = _FENCE.match(lines[at][start:])
            if fence is None:
                out.append(lines[at])
                at += 1
                continue
            margin = start + len(fence["lead"])
            end = _end(lines, at + 1, fence["sign"], columns[-1] if columns else 0)
            code = "".join(f"{line[min(_indent(line), margin) :]}\n" for line in lines[at + 1 : end])
            placeholder = self.md.htmlStash.store(f"<pre><code>{escape(code)}</code></pre>")
            before = lines[at][:start]
            out += [before + placeholder, ""] if before.strip() else ["", before + placeholder, ""]
            closed = end < len(lines) and _closes(lines[end], fence["sign"])
            at = end + 1 if closed else end
        return out


def _under(line: str, columns: list[int], before: str) -> int:
    """Update `columns` for the line, and return the column where its text begins."""
    if not line.strip():
        return 0
    lazy = before.strip() and _continues(line)
    while columns and _indent(line) < columns[-1] and not lazy:
        columns.pop()
    start = columns[-1] if columns and _indent(line) >= columns[-1] else 0
    while len(columns) < _MOST_LEVELS and (marker := _item(line[start:])):
        start += _column(marker)
        columns.append(start)
    return min(start, len(line))


def _end(lines: list[str], at: int, sign: str, column: int) -> int:
    """Return the line that closes a fence, or the first line outside its item."""
    while at < len(lines) and not _closes(lines[at], sign):
        if lines[at].strip() and _indent(lines[at]) < column:
            break
        at += 1
    return at


def _closes(line: str, sign: str) -> bool:
    rest = line.strip()
    return len(rest) >= len(sign) and not rest.strip(sign[0])


class _Lists(BlockProcessor):
    """Parses lists. A list consumes all following blocks that belong to its items."""

    level = 0

    def test(self, parent: Element, block: str) -> bool:
        return self.level < _MOST_LEVELS and _first(block.split("\n")) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        lines = blocks.pop(0).split("\n")
        start = _first(lines) or 0
        if start:
            self.parser.parseBlocks(parent, ["\n".join(lines[:start])])
        builder = _ListBuilder()
        rest = builder.take(lines[start:])
        while rest is None and blocks and builder.continues_with(blocks[0]):
            rest = builder.take(blocks.pop(0).lstrip("\n").split("\n"), parted=True)
        if rest:
            blocks.insert(0, "\n".join(rest))
        self.level += 1
        for each in builder.lists:
            self._append(parent, each)
        self.level -= 1

    def _append(self, parent: Element, source: "_List") -> None:
        element = SubElement(parent, "ol" if source.number else "ul")
        if source.number not in ("", "1"):
            element.set("start", source.number.lstrip("0") or "0")
        self.parser.state.set("looselist" if source.loose else "list")
        for lines in source.items:
            self.parser.parseBlocks(SubElement(element, "li"), "\n".join(lines).split("\n\n"))
        self.parser.state.reset()


def _first(lines: list[str]) -> int | None:
    """Return the line where a list begins. A paragraph that continues with a number, such as a year, is no list."""
    for at, line in enumerate(lines):
        marker = _item(line)
        if marker and (at == 0 or (marker["text"] and marker["number"] in (None, "1"))):
            return at
    return None


class _List:
    def __init__(self, marker: re.Match[str]) -> None:
        self.kind = marker["bullet"] or marker["dot"]
        self.number = marker["number"] or ""
        self.items: list[list[str]] = []
        self.loose = False


class _ListBuilder:
    """Collects consecutive lists line by line. `column` is the text column of the newest item."""

    def __init__(self) -> None:
        self.lists: list[_List] = []
        self.column = 0
        self.before = ""

    def continues_with(self, block: str) -> bool:
        line = block.lstrip("\n").split("\n", 1)[0]
        return bool(line.strip()) and (_indent(line) >= self.column or _item(line) is not None)

    def take(self, lines: list[str], *, parted: bool = False) -> list[str] | None:
        """Add lines and return the rest, None if all were added. `parted` means that a blank line precedes them."""
        for at, line in enumerate(lines):
            blank = parted and at == 0
            if self.lists and _indent(line) >= self.column:
                self._under(line[self.column :], blank)
            elif marker := _item(line):
                self._open(marker, line, blank)
            elif not blank and _continues(line) and not _is_code(self.before):
                self.lists[-1].items[-1].append(line.lstrip())
            else:
                return lines[at:]
            self.before = line
        return None

    def _open(self, marker: re.Match[str], line: str, blank: bool) -> None:
        if not self.lists or self.lists[-1].kind != (marker["bullet"] or marker["dot"]):
            self.lists.append(_List(marker))
        elif blank:
            self._loosen(line)
        self.column = _column(marker)
        self.lists[-1].items.append([line[self.column :]])

    def _under(self, text: str, blank: bool) -> None:
        newest = self.lists[-1]
        if blank:
            newest.items[-1].append("")
            if not _indent(text):
                self._loosen(text)
        newest.items[-1].append(text)

    def _loosen(self, line: str) -> None:
        """Mark the list as loose, except for the blank lines around fenced code."""
        if not _is_code(line) and not _is_code(self.before):
            self.lists[-1].loose = True
