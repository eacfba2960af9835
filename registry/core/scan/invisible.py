"""Finds content that people do not see but models read: invisible characters, comments, long blanks.

Emoji sequences, flags, and the joiners that some scripts need are ordinary text.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice


class Kind(StrEnum):
    ZERO_WIDTH = "zero-width"
    BIDI = "bidi"
    TAG = "tag"
    VARIATION = "variation-selector"
    SPACE = "space"
    CONTROL = "control"
    SOFT_HYPHEN = "soft-hyphen"
    PADDING = "padding"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden content of `length` characters at `offset`. `decoded` is the text that it encodes, if any."""

    line: int
    column: int
    offset: int
    length: int
    code: str
    name: str
    kind: Kind
    decoded: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text. If `hidden` is set, it has to be displayed in a visible form.

    A crowded segment contains more hidden content, which is not told apart.
    """

    text: str
    hidden: Hidden | None = None
    crowded: bool = False


MOST = 20_000  # pieces of hidden content that are told apart

_TAGS = r"\U000e0000-\U000e007f"
_SELECTORS = r"\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef"
_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = (
    r"\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0"
    r"001d173-\U0001d17a"
)
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029"
_SPACES = r"\u00a0\u1680\u2000-\u200a\u202f\u205f"
# Searching for one character class is fast, and most texts have no match. `_RUN` then tells the kinds apart.
_SUSPECTS = rf"[{_TAGS}{_SELECTORS}{_BIDI}{_ZERO_WIDTH}{_CONTROLS}{_SPACES}\u00ad\r]"
_REPEATED = re.compile(rf"({_SUSPECTS})\1*+")
_SUSPECT = re.compile(_SUSPECTS)
_CROWD = re.compile(rf"{_SUSPECTS}{_SUSPECTS}{{9,}}+")
_RUN = re.compile(
    rf"(?P<tag>[{_TAGS}]+)|(?P<variation>[{_SELECTORS}]+)|(?P<soft_hyphen>\u00ad+)|(?:(?P<bidi>[{_BIDI}])"
    rf"|(?P<zero_width>[{_ZERO_WIDTH}])|(?P<control>[{_CONTROLS}]|\r(?!\n))|(?P<space>[{_SPACES}]))"
)
_PADDING = re.compile(r"(?<![ \t])[ \t]{100,}+(?=\S)|(?:\r?\n[ \t]*+){25,}+")
_BLANKS = re.compile(r"[ \t\r\n][ \t\r\n]{24,}+")  # around each padding, and fast to search for
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

# The only flags with tag characters that fonts support: England, Scotland, Wales.
_FLAG = "\U0001f3f4"
_FLAG_TAGS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f" for region in ("gbeng", "gbsct", "gbwls")
)
_IDEOGRAPHS = (("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_JOINER, _NON_JOINER = "\u200d", "\u200c"
_MARKS = "\u061c\u200e\u200f\u2066\u2067\u2068\u2069"  # set words of two scripts apart, and reverse no letters
_NEAR = 40
_KINDS = {kind.name.lower(): kind for kind in Kind}
_NEVER_ORDINARY = frozenset((Kind.CONTROL, Kind.SPACE, Kind.SOFT_HYPHEN))  # none of _MARKS is of these kinds
# Looking up a member of an enumeration costs more than the checks of most characters.
_TAG, _VARIATION, _ZERO_WIDTH_KIND, _COMMENT = Kind.TAG, Kind.VARIATION, Kind.ZERO_WIDTH, Kind.COMMENT
_EMOJI_STYLES = "\ufe0e\ufe0f"
_STYLED = "#*0123456789©®‼⁉ℹ〰"  # have an emoji style, but are not in a symbol category
_CONTROL_NAMES = {
    0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0B: "LINE TABULATION", 0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE", 0x85: "NEXT LINE",
}  # fmt: skip


def scan(text: str, *, comments: bool = True, most: int = MOST) -> tuple[Hidden, ...]:
    """Return the first `most` pieces of hidden content. Set `comments` for Markdown, where comments are not shown."""
    positions = _Positions(text)
    hidden = [_describe(positions, *run) for run in islice(_hidden_runs(text), most)]
    hidden += [
        positions.hidden(start, end, "", f"{end - start:,} BLANK CHARACTERS", Kind.PADDING)
        for start, end in _paddings(text, most)
    ]
    if comments:
        hidden += [
            positions.hidden(start, end, "", "HTML COMMENT", Kind.COMMENT, inner.strip())
            for start, end, inner in islice(_comments(text), most)
        ]
    return tuple(sorted(hidden, key=lambda each: (each.offset, -each.length))[:most])


def lengths(text: str, *, most: int = MOST) -> list[int]:
    """Return the lengths of the first `most` pieces of hidden content without comments, in no particular order."""
    pieces = [(start, end) for _, start, end in islice(_hidden_runs(text), most)]
    pieces += _paddings(text, most)
    if len(pieces) > most:
        pieces = sorted(pieces, key=lambda piece: (piece[0], -piece[1]))[:most]
    return [end - start for start, end in pieces]


def _paddings(text: str, most: int) -> Iterator[tuple[int, int]]:
    blanks = (blanks.span() for blanks in _BLANKS.finditer(text))
    paddings = (padding.span() for start, end in blanks for padding in _PADDING.finditer(text, start, end + 1))
    return (span for span in islice(paddings, most) if not _fills_cell(text, *span))


def _fills_cell(text: str, start: int, end: int) -> bool:
    """Check for blanks between the text and the end of a table cell, which align the columns."""
    line = text.rfind("\n", 0, start) + 1
    return text.startswith("|", end) and text[line : line + 20].lstrip().startswith("|")


def _hidden_runs(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Yield runs of suspicious characters: adjacent tags or variation selectors, or repetitions of one character."""
    after = 0
    for found in _REPEATED.finditer(text):
        start, end = found.span()
        if start < after:
            continue
        character = found[1]
        kind = _kind(character)
        if kind is _TAG or kind is _VARIATION:
            run = _RUN.match(text, start)
            after = end = run.end() if run else end
        elif character == "\r" and text.startswith("\n", end):
            end -= 1  # a line break
            if start == end:
                continue
        if kind in _NEVER_ORDINARY or not _is_ordinary(text, start, end, kind):
            yield kind, start, end


@lru_cache(maxsize=1_000)
def _kind(character: str) -> Kind:
    run = _RUN.match(character)
    return _KINDS[run.lastgroup or "" if run else ""]


def segments(text: str, *, comments: bool = True, most: int = MOST) -> list[Segment]:
    """Split the text at hidden content. Joining the pieces restores the text.

    A text with more than `most` pieces of hidden content ends with one crowded segment.
    """
    hidden = scan(text, comments=comments, most=most)
    end = len(text) if len(hidden) < most else max((each.offset + each.length for each in hidden), default=0)
    in_comments = deque(each for each in hidden if each.kind is _COMMENT)
    result: list[Segment] = []
    at = 0
    for each in (each for each in hidden if each.kind is not _COMMENT):
        result += _between(text, at, each.offset, in_comments)
        at = each.offset + each.length
        result.append(Segment(text[each.offset : at], each))
    result += _between(text, at, end, in_comments)
    return result + ([Segment(text[end:], crowded=True)] if end < len(text) else [])


def blotted(text: str) -> str:
    """Return the text of a crowded segment with a box for each invisible character."""
    shorter = _CROWD.sub(lambda crowd: "\u25a1" * len(crowd[0]), text)  # faster than one character after the other
    return _SUSPECT.sub("\u25a1", shorter)


def _between(text: str, start: int, end: int, comments: deque[Hidden]) -> Iterator[Segment]:
    """Yield the text between hidden characters, split at comments. Remove the comments that end in it."""
    while comments and comments[0].offset < end:
        comment = comments[0]
        low, high = max(start, comment.offset), min(end, comment.offset + comment.length)
        if start < low:
            yield Segment(text[start:low])
        if low < high:
            yield Segment(text[low:high], comment)
        start = max(start, high)
        if comment.offset + comment.length > end:
            break
        comments.popleft()
    if start < end:
        yield Segment(text[start:end])


class _Positions:
    """Converts offsets to 1-based lines and columns, in linear time if they are increasing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._offset = self._line = self._line_start = 0

    def hidden(self, start: int, end: int, code: str, name: str, kind: Kind, decoded: str = "") -> Hidden:
        if start < self._offset:
            self._offset = self._line = self._line_start = 0
        breaks = self.text.count("\n", self._offset, start)
        if breaks:
            self._line += breaks
            self._line_start = self.text.rindex("\n", self._offset, start) + 1
        self._offset = start
        return Hidden(self._line + 1, start - self._line_start + 1, start, end - start, code, name, kind, decoded)


def _describe(positions: _Positions, kind: Kind, start: int, end: int) -> Hidden:
    run = positions.text[start:end]
    return positions.hidden(start, end, *_code_and_name(run[0]), kind, _decode(run, kind))


@lru_cache(maxsize=1_000)
def _code_and_name(character: str) -> tuple[str, str]:
    name = unicodedata.name(character, "") or _CONTROL_NAMES.get(ord(character), "CONTROL CHARACTER")
    return f"U+{ord(character):04X}", name


def _decode(run: str, kind: Kind) -> str:
    """Return the encoded text. Tag characters mirror ASCII, and a variation selector can encode one byte."""
    if kind is _TAG:
        return "".join(chr(ord(tag) - 0xE0000) for tag in run if 0xE0020 <= ord(tag) <= 0xE007E)
    if kind is _VARIATION and len(run) > 1:
        encoded = bytes(_selector_number(selector) for selector in run)
        return "".join(c if c.isprintable() else "\ufffd" for c in encoded.decode(errors="replace"))
    return ""


def _selector_number(selector: str) -> int:
    code = ord(selector)
    if code >= 0xE0100:
        return code - 0xE0100 + 16
    return code - 0xFE00 if code >= 0xFE00 else code - 0x180B


def _is_ordinary(text: str, start: int, end: int, kind: Kind) -> bool:
    before = text[start - 1] if start else ""
    run = text[start:end]
    if kind is _TAG:
        return before == _FLAG and run in _FLAG_TAGS
    if kind is _VARIATION:
        return len(run) == 1 and _takes_variation(before, run)
    if kind is _ZERO_WIDTH_KIND and run in (_JOINER, _NON_JOINER):
        after = text[end] if end < len(text) else ""
        return _joins(before, after, run)
    return len(run) == 1 and run in _MARKS and _is_right_to_left(text, start)


def _is_right_to_left(text: str, at: int) -> bool:
    """Check if a line, near a position, has letters that are written from right to left."""
    line = text.rfind("\n", 0, at) + 1
    near = text[max(line, at - _NEAR) : at + _NEAR].partition("\n")[0]
    return any(unicodedata.bidirectional(letter) in ("R", "AL") and letter not in _MARKS for letter in near)


def _takes_variation(before: str, selector: str) -> bool:
    if not before:
        return False
    if selector in _EMOJI_STYLES:
        return before in _STYLED or _is_emoji_part(before)
    if selector <= "\u180f":
        return "\u1820" <= before <= "\u18aa"
    return _is_ideograph(before) or (before > "\u2000" and unicodedata.category(before) == "Sm")


def _joins(before: str, after: str, joiner: str) -> bool:
    """Check for joiners that belong to the spelling: between emoji, and in Middle Eastern and South Asian scripts."""
    if not before or not after:
        return False
    if "\u0600" <= before <= "\u109f" or "\u1780" <= before <= "\u18af":
        return True
    return joiner == _JOINER and _is_emoji_part(before) and _is_emoji_part(after)


def _is_emoji_part(character: str) -> bool:
    if "\U0001f000" <= character <= "\U0001faff" or character == "\ufe0f":
        return True
    return character > "\u2000" and unicodedata.category(character) in ("So", "Sm")


def _is_ideograph(character: str) -> bool:
    return any(low <= character <= high for low, high in _IDEOGRAPHS)


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the HTML comments outside of fenced code, where they would be displayed."""
    start = text.find("<!--")
    fences = deque(_fenced(text) if start >= 0 else ())
    while start >= 0:
        while fences and fences[0][1] <= start:
            fences.popleft()
        if fences and fences[0][0] <= start:
            end = fences[0][1]
        else:
            close = text.find("-->", start + 4)
            end = close + 3 if close >= 0 else len(text)
            yield start, end, text[start + 4 : close if close >= 0 else end]
        start = text.find("<!--", end)


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    mark, opened, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line)
        if fence and not mark:
            mark, opened = fence[1], at
        elif fence and fence[1].startswith(mark) and not line.strip().strip(mark[0]):
            yield opened, at + len(line)
            mark = ""
        at += len(line)
    if mark:
        yield opened, len(text)
