"""Names that differ from the name of a known skill by one typing mistake."""

from collections.abc import Collection, Iterator

# Widely used public skills, which a name may imitate.
PUBLIC = (
    "algorithmic-art", "brand-guidelines", "canvas-design", "doc-coauthoring", "frontend-design", "internal-comms",
    "mcp-builder", "skill-creator", "slack-gif-creator", "theme-factory", "web-artifacts-builder", "webapp-testing",
)  # fmt: skip
_SHORTEST = 5  # letters; shorter names have too many neighbours
_MOST_NAMES = 20_000


def imitated(name: str, known: Collection[str]) -> Iterator[str]:
    """Yield the known names that are one typing mistake away: a letter more, less, other, or two swapped.

    A plural and a number at the end are not mistakes.
    """
    if len(name) < _SHORTEST or name in known or name in PUBLIC:
        return
    for other in sorted({*list(known)[:_MOST_NAMES], *PUBLIC}):
        if len(other) >= _SHORTEST and abs(len(other) - len(name)) <= 1 and _is_typo(name, other):
            yield other


def _is_typo(name: str, other: str) -> bool:
    if len(name) == len(other):
        differing = [index for index, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
        if len(differing) == 1:
            at = differing[0]
            return not (name[at].isdigit() and other[at].isdigit()) and not _whole_word(name, other, at)
        first, second = differing[0], differing[-1]
        swapped = name[first] == other[second] and name[second] == other[first]
        return len(differing) == 2 and second == first + 1 and swapped
    short, long = sorted((name, other), key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if short[at:] != long[at + 1 :]:
        return False
    added = long[at]
    at_end = at == len(long) - 1 or long[at + 1 : at + 2] == "-"
    return not (at_end and (added == "s" or added.isdigit())) and not (at == 0 or long[at - 1] == "-")


def _whole_word(name: str, other: str, at: int) -> bool:
    """Check if the letter changes the start of a word, which usually makes another word."""
    return at == 0 or name[at - 1] == "-"
