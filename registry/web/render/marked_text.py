"""Text as HTML with invisible characters made visible, each in a box with its name."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from registry.core.scan import invisible
from registry.core.scan.invisible import Hidden, Kind, Segment
from registry.core.text.diff import Pieces
from registry.web.humanize import counted, number

MOST_LINES = 10_000
_SHOWN_DECODED = 200


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    html: SafeString


@dataclass(slots=True)
class Boxes:
    """The number of boxes that a page may still show. After them, each hidden character is a plain square."""

    left: int = invisible.MOST

    def segments(self, text: str, *, comments: bool) -> list[Segment]:
        found = invisible.segments(text, comments=comments, most=self.left)
        self.left = max(0, self.left - sum(segment.hidden is not None for segment in found))
        return found


def lines(text: str, *, comments: bool = True, boxes: Boxes | None = None) -> list[Line]:
    """Return the text line by line. A long run of blank lines becomes one box; line numbers count them.

    The last line of a text with more than MOST_LINES lines says how many are not shown.
    """
    shortened = text.split("\n", MOST_LINES)
    if len(shortened) > MOST_LINES:
        cut = shortened.pop()
        more = cut.count("\n") + (not cut.endswith("\n"))
        note = f"{counted(more, 'more line')}. Download the file to read everything."
        shown = lines("\n".join(shortened), comments=comments, boxes=boxes)
        return [*shown, Line(MOST_LINES + 1, format_html('<span class="unseen">{}</span>', note))] if cut else shown
    result: list[Line] = []
    at, parts = 1, list[str]()
    for segment in (boxes or Boxes()).segments(text, comments=comments):
        if segment.hidden is not None and segment.hidden.kind is Kind.PADDING:
            parts.append(box(segment.hidden, segment.text))
            if breaks := segment.text.count("\n"):
                result.append(Line(at, mark_safe("".join(parts))))
                at, parts = at + breaks, []
            continue
        first, *rest = segment.text.split("\n")
        parts.append(_html(segment, first))
        for piece in rest:
            result.append(Line(at, mark_safe("".join(parts))))
            at, parts = at + 1, [_html(segment, piece)]
    if parts and any(parts):
        result.append(Line(at, mark_safe("".join(parts))))
    return result


def _html(segment: Segment, piece: str) -> str:
    if segment.hidden is None:
        piece = piece.removesuffix("\r")
        return escape(invisible.blotted(piece) if segment.crowded else piece)
    if segment.hidden.kind is Kind.COMMENT:
        return format_html('<span class="source-comment">{}</span>', piece.removesuffix("\r")) if piece else ""
    return box(segment.hidden, segment.text)


def box(hidden: Hidden, text: str) -> SafeString:
    if hidden.kind is Kind.PADDING:
        breaks = text.count("\n")
        label = counted(breaks - 1, "blank line") if breaks > 1 else f"{number(len(text))} blank characters"
        return format_html('<span class="unseen">{}</span>', label)
    times = f" × {number(hidden.length)}" if hidden.length > 1 else ""
    decoded = f": “{hidden.decoded[:_SHOWN_DECODED]}”" if hidden.decoded else ""
    label = escape(f"{hidden.code} {hidden.name.lower()}{times}{decoded}")
    return mark_safe(f'<span class="unseen">{label}</span>')  # format_html escapes each part, which takes longer


def unseen(text: str) -> list[Line]:
    """Return the characters that a textarea does not show, each with its line."""
    found = invisible.scan(text, comments=False)
    return [Line(each.line, box(each, text[each.offset : each.offset + each.length])) for each in found]


def words(text: str) -> SafeString:
    """Return user text as HTML. The CSS of the place must preserve line breaks."""
    return mark_safe("\n".join(line.html for line in lines(text, comments=False)))


def inline(text: str, boxes: Boxes | None = None) -> SafeString:
    """Return a part of one line, such as a table cell."""
    found = (boxes or Boxes()).segments(text, comments=False)
    return mark_safe("".join(_html(segment, segment.text) for segment in found))


def marked(pieces: Pieces, tag: str, boxes: Boxes | None = None) -> SafeString:
    """Wrap changed words in `tag`, which is del or ins."""
    drawn = ((inline(text, boxes), changed) for text, changed in pieces)
    return mark_safe("".join(f"<{tag}>{html}</{tag}>" if changed else html for html, changed in drawn))


def summary(text: str, *, comments: bool = True) -> str:
    """Return the numbers of hidden characters, comments and blank runs in words; empty if there are none."""
    found = invisible.scan(text, comments=comments)
    remarks = sum(each.kind is Kind.COMMENT for each in found)
    characters = sum(each.length for each in found if each.kind not in (Kind.COMMENT, Kind.PADDING))
    padding = sum(each.kind is Kind.PADDING for each in found)
    counts = _counts(
        (characters, "hidden character"), (remarks, "comment"), (padding, "long run of blanks,long runs of blanks")
    )
    words = ", ".join(counts)
    return f"at least {words}" if len(found) >= invisible.MOST else words


def _counts(*pairs: tuple[int, str]) -> Iterable[str]:
    return [counted(amount, noun) for amount, noun in pairs if amount]
