"""A question against an index: the evidence in each skill, computed once and read by the links.

Evidence depends on the question, the skill and the document frequencies of the whole index, never on which skills may
be named. So a caller who sees fewer skills gets the same scores.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import analysis, background, weights, words
from registry.core.routing.analysis import ANCHOR, DESCRIPTION, HEADINGS, LEAD, NAME, TITLE, TRIGGERS
from registry.core.routing.index import Hits, Index
from registry.core.routing.vectors import Encoder

_NAME_WORD = re.compile(r"[^\W_]+")
SATURATION = 2.5  # k1 of BM25
_SUMMARY = NAME | TITLE | DESCRIPTION | TRIGGERS | ANCHOR
_PROMINENT = _SUMMARY | LEAD | HEADINGS
_ALL_HITS = slice(None)

Floats = NDArray[np.float64]


def _part_of(fields: int) -> int:
    """Return 0 for a hit in the summary, 1 for one in introduction or headings alone, and 2 for one in the text."""
    return 0 if fields & _SUMMARY else 1 if fields & _PROMINENT else 2


_PART_OF = np.array([_part_of(fields) for fields in range(256)], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One number from 0 to about 1 for each row of the index.

    `summary` and `text` are BM25F: of name, title, description and triggers, and what all other fields add to it.
    `cover` is the share of the question's weight that the summary has, `lead_cover` what introduction and headings add
    to it, `text_cover` what the text adds. `early` is like `cover`, but earlier words count more. `head` is the
    share of the first part of the question in the summary, `lead_head` what introduction and headings add to it.
    `pairs`: adjacent words; `name`: words of the name, the earlier the better; `name_share`: how much of the name is in
    the question, less for common words; `triggers`: triggers and phrases that are in the question as a whole; `exact`:
    1 if the question is a trigger or phrase, word for word.
    """

    summary: Floats
    text: Floats
    cover: Floats
    lead_cover: Floats
    text_cover: Floats
    early: Floats
    head: Floats
    lead_head: Floats
    pairs: Floats
    name: Floats
    name_share: Floats
    triggers: Floats
    exact: Floats


@dataclass(frozen=True, eq=False)
class Question:
    """A question, an index, and the encoder of the index if there is one."""

    query: words.Query
    index: Index
    encoder: Encoder | None = None

    @cached_property
    def hashes(self) -> analysis.Hashes:
        """The hash of each term of the question."""
        return analysis.hashed(term.stem for term in self.query.terms)

    @cached_property
    def hits(self) -> Hits:
        """The rows with the terms of the question."""
        return self.index.hits(self.hashes)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each term of the question: how much it says."""
        terms = zip(self.query.terms, self.hits.counts.tolist(), strict=True)
        return np.array([term.weight * background.idf(term.stem, count) for term, count in terms])

    @cached_property
    def evidence(self) -> Evidence:
        return _evidence(self)

    @cached_property
    def text_score(self) -> Floats:
        """The sum of all evidence of the text, with its weights."""
        evidence = self.evidence
        parts = (
            (weights.NAME, evidence.name), (weights.NAME_SHARE, evidence.name_share),
            (weights.TRIGGERS, evidence.triggers), (weights.SUMMARY, evidence.summary), (weights.COVER, evidence.cover),
            (weights.HEAD, evidence.head), (weights.PAIRS, evidence.pairs), (weights.TEXT, evidence.text),
            (weights.LEAD_COVER, evidence.lead_cover), (weights.TEXT_COVER, evidence.text_cover),
            (weights.EARLY, evidence.early), (weights.LEAD_HEAD, evidence.lead_head), (weights.EXACT, evidence.exact),
        )  # fmt: skip
        total: Floats = np.zeros(len(self.index.names))
        for weight, values in parts:
            total += weight * values
        return total

    @cached_property
    def exact_row(self) -> int | None:
        """The row of the skill whose name is the whole question."""
        return self.index.row_of.get("-".join(_NAME_WORD.findall(words.normalise(self.query.text))))

    @property
    def says_nothing(self) -> bool:
        """True for a question without a word, or with such words as “the” alone, that is no name."""
        return self.query.empty and self.exact_row is None

    @property
    def has_vectors(self) -> bool:
        return self._vector is not None

    @cached_property
    def similarity(self) -> Floats:
        """The cosine of the question's vector and each skill's, from 0 to 1. Zero without vectors."""
        vector = self._vector
        if vector is None:
            return np.zeros(len(self.index.names))
        products = self.index.vectors @ vector
        lengths = self.index.vector_lengths * float(np.sqrt(vector @ vector))
        cosines: Floats = np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0)
        return np.maximum(cosines, 0.0)

    def phrase_similarity(self, rows: NDArray[np.intp]) -> Floats:
        """Return, for each row, the cosine of its phrase nearest to the question. Rows may be in any order."""
        known = self._phrase_similarity
        missing = np.sort(rows[known[rows] < 0])
        if len(missing):
            known[missing] = 0.0
            cosines, counts = self._phrase_cosines(missing)
            some = counts > 0
            if some.any():
                best = np.maximum.reduceat(cosines, (np.cumsum(counts) - counts)[some])
                known[missing[some]] = np.maximum(best, 0.0)
        similar: Floats = known[rows]
        return similar

    def nearest_phrase(self, row: int) -> str:
        """Return the phrase of a skill that is nearest to the question, or an empty text."""
        cosines, _ = self._phrase_cosines(np.array([row], np.intp))
        if not len(cosines):
            return ""
        entry = self.index.entries[row]
        return (*entry.phrases, entry.name)[int(cosines.argmax())]  # the last vector is that of the name

    def _phrase_cosines(self, rows: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
        vector = self._vector
        if vector is None:
            return np.empty(0), np.zeros(len(rows), np.intp)
        phrases, lengths, counts = self.index.phrases_of(rows)
        return phrases @ vector / (lengths * float(np.sqrt(vector @ vector)) + 1e-9), counts

    @cached_property
    def _phrase_similarity(self) -> Floats:
        """The results of `phrase_similarity` by row, -1 where it was not asked for."""
        return np.full(len(self.index.names), -1.0)

    @cached_property
    def _vector(self) -> NDArray[np.float32] | None:
        if self.encoder is None or self.encoder.dim != self.index.dim:
            return None
        vector: NDArray[np.float32] = analysis.rounded(self.encoder.encode([self.query.emphasised]))[0].astype(
            np.float32
        )
        return vector


def ask(text: str, index: Index, encoder: Encoder | None = None) -> Question:
    return Question(words.query(text), index, encoder)


def _evidence(question: Question) -> Evidence:
    """Sum over the hits of all terms at once, which is several times faster than term by term."""
    size, hits, weights = len(question.index.names), question.hits, question.weights
    terms, rows, weight = hits.terms, hits.rows, weights[hits.terms]
    total = float(weights.sum()) + 1e-9
    in_head = np.array([term.in_head for term in question.query.terms], bool)
    place = np.arange(len(weights))
    early, earlier = weights / (1.0 + place / 8), weights / (1.0 + place / 3)  # less for later terms

    def by_part(values: Floats, where: NDArray[np.bool_] | slice = _ALL_HITS) -> Floats:
        """Sum for each skill: over the hits in the summary, in introduction and headings alone, and in the text."""
        sums: Floats = np.bincount(parts[where], values[where], 3 * size).astype(np.float64, copy=False)
        return sums.reshape(3, size)

    parts = _PART_OF[hits.fields] * size + rows
    both = hits.summary + hits.full
    named = np.flatnonzero(hits.fields & NAME)
    covers, heads = by_part(weight) / total, by_part(weight, in_head[terms]) / (float(weights[in_head].sum()) + 1e-9)
    summary = np.bincount(rows, weight * (hits.summary / (SATURATION + hits.summary)), size)
    text = np.bincount(rows, weight * (both / (SATURATION + both)), size) - summary
    names = np.bincount(rows[named], early[terms[named]], size) / (float(early.sum()) + 1e-9)
    pairs, triggers, exact = _adjacent(question, size, total)
    return Evidence(
        summary=summary / total,
        text=text / total,
        cover=covers[0],
        lead_cover=covers[1],
        text_cover=covers[2],
        early=by_part(earlier[terms])[0] / (float(earlier.sum()) + 1e-9),
        head=heads[0],
        lead_head=heads[1],
        pairs=pairs,
        name=names,
        name_share=np.bincount(rows[named], weight[named] / background.MOST, size) / question.index.name_lengths,
        triggers=triggers,
        exact=exact,
    )


def _adjacent(question: Question, size: int, total: float) -> tuple[Floats, Floats, Floats]:
    """Return the evidence of `pairs`, `triggers` and `exact`, for which the index is searched once.

    For triggers it is the weight of the heaviest trigger or phrase of each skill that is in the question as a whole.
    """
    first, second = np.array(question.query.pairs, np.intp).reshape(-1, 2).T
    order = np.array(question.query.order, np.intp)
    before = np.concatenate([[0.0], np.cumsum(question.weights[order])])
    phrases = list(analysis.phrase_hashes(question.hashes[order]))
    lengths = range(1, len(phrases) + 1)
    weights = np.concatenate(
        [
            (question.weights[first] + question.weights[second]) / 2,
            *(before[length:] - before[:-length] for length in lengths),
        ]
    )
    exact = np.array([analysis.exact_hash(question.query.words)], np.uint64)
    pairs = analysis.pair_hash(question.hashes[first], question.hashes[second])
    rows, at = question.index.pair_rows(np.concatenate([pairs, *phrases, exact]))
    is_pair, is_exact = at < len(first), at == len(weights)
    is_phrase = ~(is_pair | is_exact)
    summed = np.bincount(rows[is_pair], weights[at[is_pair]], size) / (float(weights[: len(first)].sum()) + 1e-9)
    heaviest, found = np.zeros(size), np.zeros(size)
    np.maximum.at(heaviest, rows[is_phrase], weights[at[is_phrase]])
    found[rows[is_exact]] = 1.0
    return summed, heaviest / total, found
