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


def fuse(question: Question, matches: Mapping[str, Matches], most: int = 64) -> Fused:
    """Return the best rows of all links, ordered by (-score, name)."""
    scores = np.zeros((len(matches), len(question.index.names)))
    seen = np.zeros(len(question.index.names), bool)
    for own, found in zip(scores, matches.values(), strict=True):
        own[found.rows] = found.scores
        seen[found.rows] = True
    rows = np.flatnonzero(seen)
    total = scores.sum(axis=0)  # adds link by link
    if len(rows) > most:
        last = np.partition(total[rows], len(rows) - most)[len(rows) - most]
        rows = rows[total[rows] >= last]
    rows = rows[np.lexsort((question.index.name_order[rows], -total[rows]))][:most]
    return Fused(rows, total[rows], dict(zip(matches, scores[:, rows], strict=True)))


def signals(question: Question, fused: Fused) -> tuple[float, ...]:
    """Return the signals of the first match, as confidence.SIGNALS lists them. Empty without a match."""
    if not len(fused.rows):
        return ()
    row, evidence = int(fused.rows[0]), question.evidence
    return (
        float(evidence.summary[row] + evidence.text[row]),
        float(evidence.pairs[row]),
        float(fused.scores[0]),
        float(np.log1p(len(question.query.terms))),
        float(question.has_vectors),
    )
