"""Finds skills by their name. A question that is a name, with hyphens or spaces, is answered by this link alone."""

from registry.core.routing.analysis import NAME
from registry.core.routing.link import Matches, Rows, above_zero
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question

EXACT = 20.0  # more than all other evidence together


class Names:
    name = "names"
    cost = 100

    def rank(self, question: Question, rows: Rows) -> Matches:
        scores = question.text_scores(rows).names
        exact = question.exact_row
        is_exact = rows == (-1 if exact is None else exact)

        def reason(row: int) -> str:
            if row == exact:
                return "The question is its name."
            return found_words(question, row, NAME)

        return above_zero(rows, scores + EXACT * is_exact, reason, certain=bool(is_exact.any()))
