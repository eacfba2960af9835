"""Paragraphs of a text, within bounds."""

_MOST = 4_000
_CHARS = 4_000  # of one piece; the time of some rules grows with its square


def read(text: str, *, first_line: int = 1) -> tuple[list[tuple[int, str]], bool]:
    """Return the paragraphs with their first lines, and whether these are all. A long paragraph is cut into pieces."""
    found: list[tuple[int, str]] = []
    line = first_line
    for paragraph in text.split("\n\n"):
        at = 0
        while at < len(paragraph):
            if len(found) == _MOST:
                return found, False
            end = at + _CHARS
            if end < len(paragraph):
                end = paragraph.rfind("\n", at + _CHARS // 2, end) + 1 or end
            found.append((line, paragraph[at:end]))
            line += paragraph.count("\n", at, end)
            at = end
        line += 2
    return found, True
