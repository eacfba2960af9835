"""Evidence of the text: how much the words of a question speak for each skill.

Each kind of evidence is a number from 0 to about 1 for a row of the index. Links need only weighted sums of them, so
the weights are applied hit by hit: one pass over the hits of a question instead of one for each kind.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import background, weights
from registry.core.routing.analysis import ANCHOR, DESCRIPTION, HEADINGS, LEAD, NAME, TITLE, TRIGGERS
from registry.core.routing.index import Hits
from registry.core.routing.words import Query

Floats = NDArray[np.float64]

_SUMMARY = NAME | TITLE | DESCRIPTION | TRIGGERS | ANCHOR
_PROMINENT = _SUMMARY | LEAD | HEADINGS
_NONE = 1e-9  # keeps a question without weight from dividing by zero


def _part_of(fields: int) -> int:
    """Return 0 for a hit in the summary, 1 for one in introduction or headings alone, and 2 for one in the text."""
    return 0 if fields & _SUMMARY else 1 if fields & _PROMINENT else 2


_PART_OF = np.array([_part_of(fields) for fields in range(256)], np.intp)


class TermShares:
    """The weights of the terms of a question, as shares of their sum.

    `fading` and `fading_fast` are smaller for later terms, `head` is zero behind the first part of the question.
    """

    def __init__(self, query: Query, weights: Floats) -> None:
        place = np.arange(len(weights))
        in_head = np.array([term.in_head for term in query.terms], bool)
        self.weights = weights
        self.plain = shares(weights)
        self.fading, self.fading_fast = shares(weights / (1.0 + place / 8)), shares(weights / (1.0 + place / 3))
        self.head = shares(np.where(in_head, weights, 0.0))


class WordEvidence:
    """Evidence in the single words of a question, from their hits in some rows. `name_lengths` has one for each row."""

    def __init__(self, terms: TermShares, hits: Hits, name_lengths: Floats) -> None:
        self._terms, self._hits, self._name_lengths = terms, hits, name_lengths

    def words(
        self,
        *,
        summary: float = 0.0,
        text: float = 0.0,
        cover: float = 0.0,
        lead_cover: float = 0.0,
        text_cover: float = 0.0,
        early: float = 0.0,
        head: float = 0.0,
        lead_head: float = 0.0,
    ) -> Floats:
        """Return the sum of these kinds of evidence, each times the weight that is given for it.

        `summary` and `text` are BM25F: of name, title, description and triggers, and what all other fields add to it.
        `cover` is the share of the question's weight that the summary has, `lead_cover` what introduction and headings
        add to it, `text_cover` what the text adds. `early` is like `cover`, but earlier words count more. `head` is
        the share of the first part of the question in the summary, `lead_head` what introduction and headings add.
        """
        terms = self._terms
        by_part = (
            cover * terms.plain + early * terms.fading_fast + head * terms.head,
            lead_cover * terms.plain + lead_head * terms.head,
            text_cover * terms.plain,
        )
        values = np.concatenate(by_part)[self._cells]
        for weight, bm25f in ((summary, self._hits.summary), (text, self._hits.text)):
            if weight:
                values += (weight * terms.plain)[self._hits.terms] * bm25f
        return self._summed(self._hits.rows, values)

    def names(self, *, name: float = 0.0, share: float = 0.0) -> Floats:
        """Return the weighted sum of the evidence in names.

        `name`: words of the name, the earlier in the question the better; `share`: how much of the name is in the
        question, less for common words.
        """
        named = np.flatnonzero(self._hits.fields & NAME)
        terms, rows = self._hits.terms[named], self._hits.rows[named]
        known = self._terms.weights[terms] / (background.MOST * self._name_lengths[rows])
        return self._summed(rows, name * self._terms.fading[terms] + share * known)

    def bm25f(self, row: int) -> float:
        """Return `summary` + `text` of one row."""
        hits = np.flatnonzero(self._hits.rows == row)
        bm25f = self._hits.summary[hits] + self._hits.text[hits]
        return float(self._terms.plain[self._hits.terms[hits]] @ bm25f)

    @cached_property
    def _cells(self) -> NDArray[np.intp]:
        """The position of each hit in a table of parts and terms."""
        cells: NDArray[np.intp] = _PART_OF[self._hits.fields] * len(self._terms.weights) + self._hits.terms
        return cells

    def _summed(self, rows: NDArray[np.intp], values: Floats) -> Floats:
        # Without any row, bincount returns whole numbers.
        return np.bincount(rows, values, len(self._name_lengths)).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class PhraseEvidence:
    """Evidence in several words together.

    `pairs`: the share of the question's adjacent words; `triggers`: the share of its weight in the heaviest trigger or
    phrase that it contains as a whole; `exact`: 1 if it is a trigger or phrase, word for word.
    """

    pairs: Floats
    triggers: Floats
    exact: Floats

    def of(self, rows: NDArray[np.intp]) -> "PhraseEvidence":
        return PhraseEvidence(self.pairs[rows], self.triggers[rows], self.exact[rows])


@dataclass(frozen=True, slots=True, eq=False)
class TextScores:
    """The score of each row by each link that reads text. `total` is their sum."""

    names: Floats
    triggers: Floats
    summary: Floats
    full_text: Floats

    @classmethod
    def of(cls, words: WordEvidence, phrases: PhraseEvidence) -> "TextScores":
        return cls(
            names=_names(words),
            triggers=_triggers(phrases),
            summary=words.words(**_summary_weights()) + weights.PAIRS * phrases.pairs,
            full_text=words.words(**_full_text_weights()),
        )

    @property
    def total(self) -> Floats:
        total: Floats = self.names + self.triggers + self.summary + self.full_text
        return total


def total_score(words: WordEvidence, phrases: PhraseEvidence) -> Floats:
    """Return `TextScores.total`, in half the time because the hits are added up once."""
    total = words.words(**_summary_weights(), **_full_text_weights())
    total += _names(words)
    total += _triggers(phrases)
    total += weights.PAIRS * phrases.pairs
    return total


def shares(values: Floats) -> Floats:
    """Return values as shares of their sum. All are zero if the sum is."""
    found: Floats = values / (float(values.sum()) + _NONE)
    return found


def _names(words: WordEvidence) -> Floats:
    return words.names(name=weights.NAME, share=weights.NAME_SHARE)


def _triggers(phrases: PhraseEvidence) -> Floats:
    scores: Floats = weights.TRIGGERS * phrases.triggers + weights.EXACT * phrases.exact
    return scores


def _summary_weights() -> dict[str, float]:
    return {
        "summary": weights.SUMMARY,
        "cover": weights.COVER,
        "early": weights.EARLY,
        "head": weights.HEAD,
        "lead_head": weights.LEAD_HEAD,
    }


def _full_text_weights() -> dict[str, float]:
    return {"text": weights.TEXT, "lead_cover": weights.LEAD_COVER, "text_cover": weights.TEXT_COVER}
