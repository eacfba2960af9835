"""Names that look like a misspelt one, for messages."""

import difflib
from collections.abc import Callable, Collection

from registry.core.findings import SHOWN_CHARS

_COMPARED = 4_000_000  # budget for spelling suggestions, in pairs of characters


def nearest_of(known: Collection[str], *, cutoff: float = 0.75) -> Callable[[str], str]:
    """Return a function that suggests the closest known name, or "" if there is none or the budget is used up."""
    budget, chars = _COMPARED, sum(map(len, known))

    def nearest(name: str) -> str:
        nonlocal budget
        budget -= min(len(name), SHOWN_CHARS) * chars
        near = difflib.get_close_matches(name[:SHOWN_CHARS], known, n=1, cutoff=cutoff) if budget >= 0 else []
        return near[0] if near else ""

    return nearest
