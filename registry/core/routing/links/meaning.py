"""Finds skills whose description means the same in other words, by vectors."""

import numpy as np

from registry.core.routing import weights
from registry.core.routing.link import Matches, Rows, Unavailable, above_zero
from registry.core.routing.question import Question

PHRASE_ROWS = 64  # skills whose phrases are compared: the best ones of the index by the estimate
_LEAST = 0.25  # cosine; a skill that shares no word with the question and is less close is not found


class Meaning:
    name = "meaning"
    cost = 2_000

    def rank(self, question: Question, rows: Rows) -> Matches:
        """Score rows by their vector, and the best PHRASE_ROWS also by their phrases.

        The best ones are chosen among all rows of the index, so that a caller who may see fewer skills gets the same
        scores.
        """
        if not question.has_vectors:
            raise Unavailable("There is no encoder, so meaning is not compared.")
        scores = weights.VECTOR * question.similarity(rows)
        close = (scores >= weights.VECTOR * _LEAST) | (question.text_scores(rows).total > 0)
        near = _common(rows, phrase_rows(question))
        phrases = question.phrase_similarity(rows[near])
        scores[near] += weights.PHRASE * phrases
        close[near] |= phrases >= _LEAST

        def reason(row: int) -> str:
            phrase = question.nearest_phrase(row)
            return f"Close in meaning to “{phrase}”." if phrase else ""

        return above_zero(rows, scores * close, reason)


def phrase_rows(question: Question) -> Rows:
    """Return the rows of the index whose phrases are compared, in rising order."""
    return question.nearest(question.best, PHRASE_ROWS)


def _common(rows: Rows, others: Rows) -> Rows:
    """Return the positions in `rows` of those that are among others. Both rise."""
    at = np.searchsorted(rows, others)
    inside = np.flatnonzero(at < len(rows))
    at = at[inside]
    common: Rows = at[rows[at] == others[inside]]
    return common
