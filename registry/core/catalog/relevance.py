"""Relevance of a skill for a query: matches in the name weigh most, then tags and triggers, then the description."""

import re
from collections.abc import Sequence

from registry.core.catalog.precedence import Candidate

_WORD = re.compile(r"\w+")
_NAME, _TAG, _DESCRIPTION = 8, 4, 2  # for a whole word; a part of a word counts 1


def score(candidate: Candidate, words: Sequence[str]) -> int:
    """Return the relevance. A name that equals the query scores highest. `words` are in lower case."""
    name = candidate.name.lower()
    if name in (" ".join(words), "-".join(words)):
        return 1_000
    tags = " ".join((*candidate.tags, *candidate.triggers)).lower()
    places = ((name, _NAME), (tags, _TAG), (candidate.description.lower(), _DESCRIPTION))
    return sum(_points(text, words, whole) for text, whole in places)


def _points(text: str, words: Sequence[str], whole: int) -> int:
    known = frozenset(_WORD.findall(text))
    return sum(whole if word in known else 1 if word in text else 0 for word in words)
