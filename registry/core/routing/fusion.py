"""One ranking from the scores of all links: their sum."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.core.routing.link import Matches, Rows
from registry.core.routing.question import Question


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """Rows, best first, with the sum of the links' scores and the score of each link (0 where it found nothing)."""

    rows: Rows
    scores: NDArray[np.float64]
    by_link: Mapping[str, NDArray[np.float64]]


def fuse(question: Question, matches: Mapping[str, Matches], most: int) -> Fused:
    """Return the best rows of all links, ordered by (-score, name). The rows of each link rise."""
    rows = np.unique(np.concatenate([np.empty(0, np.intp), *(found.rows for found in matches.values())]))
    by_link = {name: _scores_of(found, rows) for name, found in matches.items()}
    total = np.zeros(len(rows))
    for scores in by_link.values():
        total += scores
    order = np.lexsort((question.index.name_order[rows], -total))[:most]
    return Fused(rows[order], total[order], {name: scores[order] for name, scores in by_link.items()})


def _scores_of(found: Matches, rows: Rows) -> NDArray[np.float64]:
    """Return the score of each of `rows` by one link, 0 where it found nothing. `rows` contain all that it found."""
    scores = np.zeros(len(rows))
    scores[np.searchsorted(rows, found.rows)] = found.scores
    return scores


def signals(question: Question, fused: Fused) -> tuple[float, ...]:
    """Return the signals of the first match, as confidence.SIGNALS lists them. Empty without a match."""
    if not len(fused.rows):
        return ()
    row = int(fused.rows[0])
    return (
        question.word_evidence.bm25f(row),
        float(question.phrase_evidence.pairs[row]),
        float(fused.scores[0]),
        float(np.log1p(len(question.query.terms))),
        float(question.has_vectors),
    )
