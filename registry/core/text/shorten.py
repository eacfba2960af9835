"""Text for one line: without line ends, and cut between words."""

import re
import unicodedata

_FOLDED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")  # XML does not allow the last two
_ZERO_WIDTH_JOINER = "\u200d"


def one_line(text: str) -> str:
    """Replace line ends and control characters by spaces, so that no skill can forge the line of another."""
    if text.isprintable() and "  " not in text:  # fast path: there may be ten thousand lines
        return text.strip()
    return _FOLDED.sub(" ", text).strip()


def shorten(text: str, most: int) -> str:
    """Shorten to `most` characters including the ellipsis, between words where that keeps more than half."""
    if len(text) <= most:
        return text
    end = _grapheme_boundary(text, most - 1)
    space = text.rfind(" ", end // 2, end + 1)
    return text[: space if space > 0 else end].rstrip(" ,;:–—-") + "…"


def _grapheme_boundary(text: str, end: int) -> int:
    """Return the last position up to `end` that separates no accent or modifier from its character."""
    for position in range(end, 0, -1):
        if not _extends_previous(text[position]) and text[position - 1] != _ZERO_WIDTH_JOINER:
            return position
    return end


def _extends_previous(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U0001f1e6" <= character <= "\U0001f1ff"  # halves of a flag
    )
