"""Finds skills whose description means the same in other words, by vectors."""

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import weights
from registry.core.routing.link import Matches, Rows, Unavailable
from registry.core.routing.question import Question

PHRASE_ROWS = 128  # skills whose phrases are compared: the best ones of the index by all other evidence
_LEAST = 0.25  # cosine; a skill that shares no word with the question and is less close is not found


class Meaning:
    name = "meaning"
    cost = 2_000

    def rank(self, question: Question, rows: Rows) -> Matches:
        """Score rows by their vector, and those of them that are among the best PHRASE_ROWS also by their phrases.

        The best ones are chosen among all rows of the index, so that a caller who may see fewer skills gets the same
        scores.
        """
        if not question.has_vectors:
            raise Unavailable("There is no encoder, so meaning is not compared.")
        similarity = question.similarity[rows]
        scores = weights.VECTOR * similarity
        compared = np.flatnonzero(_near(question)[rows])
        phrases = question.phrase_similarity(rows[compared])
        scores[compared] += weights.PHRASE * phrases
        close = similarity >= _LEAST
        close[compared] |= phrases >= _LEAST
        matched = (scores > 0) & (close | (question.text_score[rows] > 0))

        def reason(row: int) -> str:
            phrase = question.nearest_phrase(row)
            return f"Close in meaning to “{phrase}”." if phrase else ""

        return Matches(rows[matched], scores[matched], reason)


def _near(question: Question) -> NDArray[np.bool_]:
    """Return which rows are the best PHRASE_ROWS by their text and vector, in the order (-score, name)."""
    rows = question.index.rows
    if len(rows) > PHRASE_ROWS:
        base = weights.VECTOR * question.similarity[rows] + question.text_score[rows]
        last = np.partition(base, len(base) - PHRASE_ROWS)[len(base) - PHRASE_ROWS]
        best = np.flatnonzero(base >= last)  # more than PHRASE_ROWS if several are equal to the last
        order = np.lexsort((question.index.name_order[rows[best]], -base[best]))
        rows = rows[best[order[:PHRASE_ROWS]]]
    near = np.zeros(len(question.index.names), np.bool_)
    near[rows] = True
    return near
