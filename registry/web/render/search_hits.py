"""Text as HTML, with the words that a search hit marked."""

import re
from collections.abc import Iterable, Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_UNSPACED = re.compile("[\u2e80-\ud7ff\uf900-\ufaff]")  # scripts that put no space between words

_VISIBLE, _LEAD = 36, 24  # characters of one line, and of those before a hit


def marked(text: str, words: Iterable[str]) -> SafeString:
    """Return the escaped text with these words in `mark` elements. Case does not count, and parts of words do not."""
    ends = 0
    parts: list[str] = []
    for start, end in _merged(sorted(_places(text, words))):
        parts += (escape(text[ends:start]), "<mark>", escape(text[start:end]), "</mark>")
        ends = end
    return mark_safe("".join((*parts, escape(text[ends:]))))


def from_hit(text: str, words: Iterable[str]) -> str:
    """Return the text from shortly before its first hit, if one line would not show the hit otherwise."""
    first = min((start for start, _ in _places(text, words)), default=0)
    if first <= _VISIBLE:
        return text
    space = text.find(" ", first - _LEAD, first)
    return f"…{text[space + 1 if space >= 0 else first :]}"


def _places(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    for word in filter(None, words):
        pattern = re.escape(word) if _UNSPACED.match(word) else rf"(?<!\w){re.escape(word)}(?!\w)"
        yield from (match.span() for match in re.finditer(pattern, text, re.IGNORECASE))


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join places that overlap or touch, as the pairs of characters of an unspaced word do."""
    joined: list[tuple[int, int]] = []
    for start, end in places:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
