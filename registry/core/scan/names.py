"""Names that differ from the name of a known skill by one typing mistake."""

from collections.abc import Collection, Iterator

# Widely used public skills, which a name may imitate.
PUBLIC = (
    "agent-browser", "algorithmic-art", "brainstorming", "brand-guidelines", "canvas-design", "claude-api",
    "dispatching-parallel-agents", "doc-coauthoring", "docx", "executing-plans", "find-skills",
    "finishing-a-development-branch", "frontend-design", "internal-comms", "mcp-builder", "pptx",
    "receiving-code-review", "requesting-code-review", "skill-creator", "slack-gif-creator",
    "subagent-driven-development", "systematic-debugging", "test-driven-development", "theme-factory",
    "using-git-worktrees", "verification-before-completion", "web-artifacts-builder", "web-design-guidelines",
    "webapp-testing", "writing-plans", "writing-skills", "xlsx",
)  # fmt: skip
_SHORTEST = 5  # letters; shorter names have too many neighbours
_SHORT = 4  # letters of names of which only swapped and doubled letters are mistakes
_LOOKALIKES = str.maketrans("0135l", "oiesi", "-_")
_MOST_NAMES = 20_000
_MOST_HYPHENS = 3


def imitated(name: str, known: Collection[str]) -> Iterator[str]:
    """Yield the known names that are one typing mistake away: a letter more, less, other, or two swapped.

    A plural and a number at the end are not mistakes. Of a public skill, a plural, another hyphen and letters that
    look alike are mistakes, too.
    """
    if len(name) < _SHORT or name in known or name in PUBLIC:
        return
    for other in sorted({*list(known)[:_MOST_NAMES], *PUBLIC}):
        if abs(len(other) - len(name)) > _MOST_HYPHENS:
            continue
        close = min(len(name), len(other)) >= _SHORTEST and abs(len(other) - len(name)) <= 1
        if (close and _is_typo(name, other)) or (other in PUBLIC and _looks_like(name, other)):
            yield other


def _looks_like(name: str, other: str) -> bool:
    if len(other) == _SHORT:
        doubled = len(name) == _SHORT + 1 and any(name == other[:at] + other[at - 1] + other[at:] for at in range(1, 5))
        return doubled or (len(name) == _SHORT and sorted(name) == sorted(other) and _is_typo(name, other))
    return _skeleton(name) == _skeleton(other) or name in (f"{other}s", other.removesuffix("s"))


def _skeleton(name: str) -> str:
    return name.translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


def _is_typo(name: str, other: str) -> bool:
    if len(name) == len(other):
        differing = [index for index, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
        if len(differing) == 1:
            at = differing[0]
            return not (name[at].isdigit() and other[at].isdigit()) and not _whole_word(name, other, at)
        first, second = differing[0], differing[-1]
        swapped = name[first] == other[second] and name[second] == other[first] and not name[first].isdigit()
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
