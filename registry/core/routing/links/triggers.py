"""Finds skills by triggers, tags and phrases of the description that are in the question as a whole."""

from registry.core.routing.link import Matches, Rows, above_zero
from registry.core.routing.question import Question
from registry.core.routing.words import terms


class Triggers:
    name = "triggers"
    cost = 300

    def rank(self, question: Question, rows: Rows) -> Matches:
        return above_zero(rows, question.text_scores(rows).triggers, lambda row: _reason(question, row))


def _reason(question: Question, row: int) -> str:
    asked = [question.query.terms[at].stem for at in question.query.order]
    entry = question.index.entries[row]
    if question.phrase_evidence.exact[row]:
        return "The question is one of its triggers or phrases."
    for phrase in sorted((*entry.triggers, *entry.phrases), key=len, reverse=True):
        stems = terms(phrase)
        if stems and any(asked[at : at + len(stems)] == stems for at in range(len(asked))):
            return f"The question contains “{phrase}”."
    return ""
