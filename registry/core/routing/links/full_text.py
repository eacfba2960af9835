"""Finds skills by the words of their introduction, headings and text, as far as the summary lacks them."""

from registry.core.routing.analysis import BODY, HEADINGS, LEAD
from registry.core.routing.link import Matches, Rows, above_zero
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question


class FullText:
    name = "full_text"
    cost = 800

    def rank(self, question: Question, rows: Rows) -> Matches:
        def reason(row: int) -> str:
            return found_words(question, row, LEAD | HEADINGS | BODY)

        return above_zero(rows, question.text_scores(rows).full_text, reason)
