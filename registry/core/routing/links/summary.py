"""Full text over name, title, description and triggers."""

from registry.core.routing import weights
from registry.core.routing.analysis import ANCHOR, HEADINGS, LEAD, SUMMARY_FIELDS
from registry.core.routing.link import Matches, Rows
from registry.core.routing.links.reasons import found_words
from registry.core.routing.question import Question


class Summary:
    name = "summary"
    cost = 600

    def rank(self, question: Question, rows: Rows) -> Matches:
        evidence = question.evidence
        scores = (
            weights.SUMMARY * evidence.summary
            + weights.COVER * evidence.cover
            + weights.EARLY * evidence.early
            + weights.HEAD * evidence.head
            + weights.LEAD_HEAD * evidence.lead_head
            + weights.PAIRS * evidence.pairs
        )[rows]
        matched = scores > 0

        def reason(row: int) -> str:
            return found_words(question, row, SUMMARY_FIELDS) or found_words(question, row, LEAD | HEADINGS | ANCHOR)

        return Matches(rows[matched], scores[matched], reason)
