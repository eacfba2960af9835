"""Text as an agent reads it, drawn for people: hidden characters in boxes that say what they are."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from registry.core.lint import invisible
from registry.core.lint.invisible import Hidden, Kind, Segment
from registry.core.text.diff import Pieces
from registry.web.humanize import counted, number

_SHOWN_DECODED = 200


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    html: SafeString


def lines(text: str, *, comments: bool = True) -> list[Line]:
    """The text line by line. A long run of blank lines is one box, and the numbers go on behind it."""
    result: list[Line] = []
    at, parts = 1, list[str]()
    for segment in invisible.segments(text, comments=comments):
        if segment.hidden is not None and segment.hidden.kind is Kind.PADDING:
            parts.append(box(segment.hidden, segment.text))
            if breaks := segment.text.count("\n"):
                result.append(Line(at, mark_safe("".join(parts))))
                at, parts = at + breaks, []
            continue
        first, *rest = segment.text.split("\n")
        parts.append(_drawn(segment, first))
        for piece in rest:
            result.append(Line(at, mark_safe("".join(parts))))
            at, parts = at + 1, [_drawn(segment, piece)]
    if parts and any(parts):
        result.append(Line(at, mark_safe("".join(parts))))
    return result


def _drawn(segment: Segment, piece: str) -> str:
    piece = piece.removesuffix("\r") if segment.hidden is None else piece
    if segment.hidden is None:
        return escape(piece)
    if segment.hidden.kind is Kind.COMMENT:
        return format_html('<span class="source-comment">{}</span>', piece.removesuffix("\r")) if piece else ""
    return box(segment.hidden, segment.text)


def box(found: Hidden, text: str) -> SafeString:
    if found.kind is Kind.PADDING:
        breaks = text.count("\n")
        said = counted(breaks - 1, "blank line") if breaks > 1 else f"{number(len(text))} blank characters"
        return format_html('<span class="unseen">{}</span>', said)
    times = f" × {number(found.length)}" if found.length > 1 else ""
    decoded = f": “{found.decoded[:_SHOWN_DECODED]}”" if found.decoded else ""
    return format_html('<span class="unseen">{} {}{}{}</span>', found.code, found.name.lower(), times, decoded)


def unseen(text: str) -> list[Line]:
    """What a field for writing does not show, each with its line. Comments are read there as they are."""
    found = invisible.scan(text, comments=False)
    return [Line(each.line, box(each, text[each.offset : each.offset + each.length])) for each in found]


def words(text: str) -> SafeString:
    """What somebody wrote, as it is; the style of the place keeps its line breaks."""
    return mark_safe("\n".join(line.html for line in lines(text, comments=False)))


def inline(text: str) -> SafeString:
    """A stretch of one line, such as a cell of a table."""
    return mark_safe("".join(_drawn(segment, segment.text) for segment in invisible.segments(text, comments=False)))


def marked(pieces: Pieces, tag: str) -> SafeString:
    """Words that changed stand in `tag`, which is del or ins."""
    return mark_safe("".join(f"<{tag}>{inline(text)}</{tag}>" if changed else inline(text) for text, changed in pieces))


def summary(text: str, *, comments: bool = True) -> str:
    """In words what a reader does not see in the text; nothing where there is nothing."""
    found = invisible.scan(text, comments=comments)
    remarks = sum(each.kind is Kind.COMMENT for each in found)
    characters = sum(each.length for each in found if each.kind not in (Kind.COMMENT, Kind.PADDING))
    padding = sum(each.kind is Kind.PADDING for each in found)
    said = _counts(
        (characters, "hidden character"), (remarks, "comment"), (padding, "long run of blanks,long runs of blanks")
    )
    return ", ".join(said)


def _counts(*given: tuple[int, str]) -> Iterable[str]:
    return [counted(amount, noun) for amount, noun in given if amount]
