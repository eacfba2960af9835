"""Sentences that say why a skill was found."""

import numpy as np

from registry.core.routing.analysis import FIELD_WORDS
from registry.core.routing.question import Question

_WORDS = 3  # named in one sentence


def found_words(question: Question, row: int, fields: int) -> str:
    """Return a sentence such as “refund” is in the description, for the words that say most. Empty if there is none."""
    found: list[tuple[float, str, int]] = []
    hits = question.hits
    for at in np.flatnonzero(hits.rows == row).tolist():
        if bits := int(hits.fields[at]) & fields:
            term = int(hits.terms[at])
            found.append((-float(question.weights[term]), question.query.terms[term].word, bits))
    found.sort()
    if not found:
        return ""
    field = found[0][2] & -found[0][2]
    shown = [f"“{word}”" for _, word, bits in found if bits & field][:_WORDS]
    verb = "is" if len(shown) == 1 else "are"
    return f"{_listed(shown)} {verb} in the {FIELD_WORDS[field]}."


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
