"""Finds skills by their name. A question that is a name, with hyphens or spaces, is answered by this link alone."""

import numpy as np

from registry.core.routing import weights
from registry.core.routing.analysis import NAME
from registry.core.routing.link import Matches, Rows
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question

EXACT = 20.0  # more than all other evidence together


class Names:
    name = "names"
    cost = 100

    def rank(self, question: Question, rows: Rows) -> Matches:
        evidence = question.evidence
        scores = (weights.NAME * evidence.name + weights.NAME_SHARE * evidence.name_share)[rows]
        exact = question.exact_row
        at = np.flatnonzero(rows == exact) if exact is not None else rows[:0]
        scores[at] += EXACT
        matched = scores > 0

        def reason(row: int) -> str:
            if row == exact:
                return "The question is its name."
            return found_words(question, row, NAME)

        return Matches(rows[matched], scores[matched], reason, certain=len(at) > 0)
