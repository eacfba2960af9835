"""Full text over everything: what introduction, headings and text add to the summary."""

from registry.core.routing import weights
from registry.core.routing.analysis import BODY, HEADINGS, LEAD
from registry.core.routing.link import Matches, Rows
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question


class FullText:
    name = "full_text"
    cost = 800

    def rank(self, question: Question, rows: Rows) -> Matches:
        evidence = question.evidence
        scores = (
            weights.TEXT * evidence.text
            + weights.LEAD_COVER * evidence.lead_cover
            + weights.TEXT_COVER * evidence.text_cover
        )[rows]
        matched = scores > 0
        return Matches(rows[matched], scores[matched], lambda row: found_words(question, row, LEAD | HEADINGS | BODY))
