"""Inverse document frequency: how much a term says, from general English and from the skills of the index."""

from functools import lru_cache
from math import log

from registry.core.routing.background_words import LINES

# Weight of general English, in documents: a small project has too few skills to tell common words from rare ones.
_DOCUMENTS = 250.0
# In place of the number of skills, which would let a skill without a word of the question change its ranking.
_ALL = 500.0
MOST = log(1.0 + _ALL / 0.5)  # no term says more
_RARE = 0.001  # share of a term that is not in the table


@lru_cache(maxsize=1)
def _shares() -> dict[str, float]:
    lines = (line.split() for line in LINES.strip().splitlines())
    return {stem: 0.8 ** int(level) for level, *stems in lines for stem in stems}


def idf(stem: str, skills: int) -> float:
    """Return how much a term says if `skills` of the index contain it."""
    return log(1.0 + _ALL / (0.5 + skills + _DOCUMENTS * _shares().get(stem, _RARE)))
