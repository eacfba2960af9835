"""Lists and fenced code as CommonMark has them, for Python-Markdown.

Editors, code hosts and agents agree that what lines up with the text of an item belongs to the item, and that a list
or a fence may follow a sentence at once. Python-Markdown wants four spaces for each level, a blank line before a list
and fences at the margin; so the code below a step, and every step after it, would fall out of the list.
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
_CODE = 4  # columns further in than its surroundings, a line is code
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
    """Where the text of an item begins: behind the gap, or one column behind the marker where code follows."""
    gap = len(marker["gap"]) if marker["text"] and len(marker["gap"]) <= _CODE else 1
    return marker.start("gap") + gap


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_code(line: str) -> bool:
    """Code that was taken out and stands in the text as one sign."""
    return line.lstrip().startswith(STX)


def _continues(line: str) -> bool:
    """A line that is the rest of the sentence before it, however far left it stands."""
    line = line.lstrip()
    return not (_item(line) or _RULE.match(line) or _FENCE.match(line) or _OPENS.match(line) or _is_code(line))


class _Fences(Preprocessor):
    """Takes fenced code out of the text, before the blank lines in it part what belongs together."""

    def run(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        columns: list[int] = []  # where the texts of the items begin that the line is under
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
            kept = self.md.htmlStash.store(f"<pre><code>{escape(code)}</code></pre>")
            before = lines[at][:start]
            out += [before + kept, ""] if before.strip() else ["", before + kept, ""]
            closed = end < len(lines) and _closes(lines[end], fence["sign"])
            at = end + 1 if closed else end
        return out


def _under(line: str, columns: list[int], before: str) -> int:
    """Drops the items that the line is not under, adds those that it opens, and tells where what is left begins."""
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
    """The line that closes a fence, or the first one that is not under its item any more."""
    while at < len(lines) and not _closes(lines[at], sign):
        if lines[at].strip() and _indent(lines[at]) < column:
            break
        at += 1
    return at


def _closes(line: str, sign: str) -> bool:
    rest = line.strip()
    return len(rest) >= len(sign) and not rest.strip(sign[0])


class _Lists(BlockProcessor):
    """Blocks are what blank lines part; a list takes as many of them as are under its items."""

    level = 0

    def test(self, parent: Element, block: str) -> bool:
        return self.level < _MOST_LEVELS and _first(block.split("\n")) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        lines = blocks.pop(0).split("\n")
        start = _first(lines) or 0
        if start:
            self.parser.parseBlocks(parent, ["\n".join(lines[:start])])
        gathered = _Gathered()
        rest = gathered.take(lines[start:])
        while rest is None and blocks and gathered.goes_on_with(blocks[0]):
            rest = gathered.take(blocks.pop(0).lstrip("\n").split("\n"), parted=True)
        if rest:
            blocks.insert(0, "\n".join(rest))
        self.level += 1
        for found in gathered.lists:
            self._draw(parent, found)
        self.level -= 1

    def _draw(self, parent: Element, found: "_List") -> None:
        drawn = SubElement(parent, "ol" if found.number else "ul")
        if found.number not in ("", "1"):
            drawn.set("start", found.number.lstrip("0") or "0")
        self.parser.state.set("looselist" if found.loose else "list")
        for lines in found.items:
            self.parser.parseBlocks(SubElement(drawn, "li"), "\n".join(lines).split("\n\n"))
        self.parser.state.reset()


def _first(lines: list[str]) -> int | None:
    """Where a list begins. A sentence that goes on with a number, such as a year, is none."""
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


class _Gathered:
    """Lists that follow one another, line by line. `column` is where the text of the newest item begins."""

    def __init__(self) -> None:
        self.lists: list[_List] = []
        self.column = 0
        self.before = ""

    def goes_on_with(self, block: str) -> bool:
        line = block.lstrip("\n").split("\n", 1)[0]
        return bool(line.strip()) and (_indent(line) >= self.column or _item(line) is not None)

    def take(self, lines: list[str], *, parted: bool = False) -> list[str] | None:
        """The lines that are not part of it, None where all are. `parted` says that a blank line came before."""
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
        """Blank lines that stand only for code that was taken out part nothing."""
        if not _is_code(line) and not _is_code(self.before):
            self.lists[-1].loose = True
