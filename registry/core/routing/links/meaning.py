"""Finds skills whose description means the same in other words, by vectors."""

import numpy as np

from registry.core.routing import weights
from registry.core.routing.link import Matches, Rows, Unavailable
from registry.core.routing.question import Question

PHRASE_ROWS = 128  # skills whose phrases are compared: the best ones by all other evidence
_LEAST = 0.25  # cosine; a skill that shares no word with the question and is less close is not found


class Meaning:
    name = "meaning"
    cost = 2_000

    def rank(self, question: Question, rows: Rows) -> Matches:
        """Score rows by their vector, and the best PHRASE_ROWS also by their phrases.

        These are chosen among `rows` by all evidence of the text and the vector, in the order (-score, name). A skill
        behind them keeps the score of its vector. A caller who may see fewer skills therefore gets the same scores for
        all that both find here, and perhaps higher ones for skills behind the cut of the other.
        """
        if not question.has_vectors:
            raise Unavailable("There is no encoder, so meaning is not compared.")
        similarity = question.similarity[rows]
        scores = weights.VECTOR * similarity
        near = rows
        if len(rows) > PHRASE_ROWS:
            base = scores + question.text_score[rows]
            last = np.partition(base, len(base) - PHRASE_ROWS)[len(base) - PHRASE_ROWS]
            best = np.flatnonzero(base >= last)  # more than PHRASE_ROWS if several are equal to the last
            order = np.lexsort((question.index.name_order[rows[best]], -base[best]))
            near = np.sort(rows[best[order[:PHRASE_ROWS]]])
        phrases = question.phrase_similarity(near)
        compared = np.searchsorted(rows, near)
        scores[compared] += weights.PHRASE * phrases
        close = similarity >= _LEAST
        close[compared] |= phrases >= _LEAST
        matched = (scores > 0) & (close | (question.text_score[rows] > 0))

        def reason(row: int) -> str:
            phrase = question.nearest_phrase(row)
            return f"Close in meaning to “{phrase}”." if phrase else ""

        return Matches(rows[matched], scores[matched], reason)
