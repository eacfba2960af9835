"""Finds skills by the words of their name, title, description and triggers."""

from registry.core.routing.analysis import ANCHOR, HEADINGS, LEAD, SUMMARY_FIELDS
from registry.core.routing.link import Matches, Rows, above_zero
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question


class Summary:
    name = "summary"
    cost = 600

    def rank(self, question: Question, rows: Rows) -> Matches:
        def reason(row: int) -> str:
            return found_words(question, row, SUMMARY_FIELDS) or found_words(question, row, LEAD | HEADINGS | ANCHOR)

        return above_zero(rows, question.text_scores(rows).summary, reason)
