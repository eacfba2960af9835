"""A question against an index: the evidence in each skill, computed once and read by the links.

Evidence depends on the question and the whole index, never on which skills may be named. So a caller who sees fewer
skills gets the same scores.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import analysis, background, weights, words
from registry.core.routing.evidence import (
    Floats,
    PhraseEvidence,
    TermShares,
    TextScores,
    WordEvidence,
    shares,
    total_score,
)
from registry.core.routing.index import SKETCH, Hits, Index
from registry.core.routing.link import Rows
from registry.core.routing.vectors import Encoder

SHORTLIST = 128  # rows of a large index that links compare in detail
_NAME_WORD = re.compile(r"[^\W_]+")


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
    def term_shares(self) -> TermShares:
        return TermShares(self.query, self.weights)

    @cached_property
    def word_evidence(self) -> WordEvidence:
        return WordEvidence(self.term_shares, self.hits, self.index.name_lengths)

    @cached_property
    def phrase_evidence(self) -> PhraseEvidence:
        return _phrase_evidence(self)

    @cached_property
    def estimate(self) -> Floats:
        """An estimate of the score of every row: exact for its text, from a part of the dimensions for its vector."""
        text = total_score(self.word_evidence, self.phrase_evidence)
        vector = self._vector
        if vector is None:
            return text
        products = self.index.sketches @ vector[:SKETCH]
        return text + weights.VECTOR * _cosines(products, self.index.inverse_lengths, vector)

    @cached_property
    def best(self) -> Rows:
        """The best SHORTLIST rows of the index by the estimate, in rising order."""
        return self.nearest(self.index.rows, SHORTLIST)

    def nearest(self, rows: Rows, most: int) -> Rows:
        """Return the best `most` of some rows by the estimate, in rising order. Equal rows are chosen by name."""
        if len(rows) <= most:
            return rows
        estimate = self.estimate[rows]
        last = np.partition(estimate, len(rows) - most)[len(rows) - most]
        best = np.flatnonzero(estimate >= last)  # more than `most` if several are equal to the last
        if len(best) > most:
            order = np.lexsort((self.index.name_order[rows[best]], -estimate[best]))
            best = np.sort(best[order[:most]])
        return rows[best]

    def text_scores(self, rows: Rows) -> TextScores:
        """Return the scores of rows by the links that read text. All links of a chain ask for the same rows."""
        for known, scores in self._known_scores:
            if known is rows:
                return scores
        if len(rows) == len(self.index.names):
            found = TextScores.of(self.word_evidence, self.phrase_evidence)
        else:
            words = WordEvidence(self.term_shares, self.hits.within(rows), self.index.name_lengths[rows])
            found = TextScores.of(words, self.phrase_evidence.of(rows))
        self._known_scores[:] = [(rows, found)]
        return found

    @cached_property
    def _known_scores(self) -> list[tuple[Rows, TextScores]]:
        """The rows that were asked for last, with their scores; empty or one pair. Threads may replace it."""
        return []

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

    def similarity(self, rows: Rows) -> Floats:
        """Return the cosine of the question's vector and that of each row, from 0 to 1. Zero without vectors."""
        vector = self._vector
        if vector is None:
            return np.zeros(len(rows))
        return _cosines(self.index.vectors_of(rows) @ vector, self.index.inverse_lengths[rows], vector)

    def phrase_similarity(self, rows: Rows) -> Floats:
        """Return, for each row, the cosine of its phrase nearest to the question. `rows` rise."""
        cosines, counts = self._phrase_cosines(rows)
        starts = np.cumsum(counts) - counts
        similar = np.zeros(len(rows))
        some = np.flatnonzero(counts)
        if len(some):
            similar[some] = np.maximum(np.maximum.reduceat(cosines, starts[some]), 0.0)
        spans = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
        self._known_phrases.update(zip(rows.tolist(), (cosines[start:end] for start, end in spans), strict=True))
        return similar

    def nearest_phrase(self, row: int) -> str:
        """Return the phrase of a skill that is nearest to the question, or an empty text."""
        if row not in self._known_phrases:
            self.phrase_similarity(np.array([row], np.intp))
        cosines, entry = self._known_phrases[row], self.index.entries[row]
        if not len(cosines):
            return ""
        return (*entry.phrases, entry.name)[int(cosines.argmax())]  # the last vector is that of the name

    def _phrase_cosines(self, rows: Rows) -> tuple[Floats, NDArray[np.intp]]:
        """Return the cosines of all phrases of some rows, one after the other, and the number of phrases of each."""
        vector = self._vector
        if vector is None:
            return np.empty(0), np.zeros(len(rows), np.intp)
        phrases, lengths, counts = self.index.phrases_of(rows)
        return phrases @ vector / (lengths * float(np.sqrt(vector @ vector)) + 1e-9), counts

    @cached_property
    def _known_phrases(self) -> dict[int, Floats]:
        """The cosines of the phrases of the rows that were asked for."""
        return {}

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


def _cosines(products: NDArray[np.float32], inverse_lengths: Floats, vector: NDArray[np.float32]) -> Floats:
    """Return cosines, 0 instead of negative ones."""
    cosines: Floats = products * (inverse_lengths / (float(np.sqrt(vector @ vector)) or 1.0))
    return np.maximum(cosines, 0.0, out=cosines)


def _phrase_evidence(question: Question) -> PhraseEvidence:
    """Search the index once for the pairs, the phrases and the whole of the question."""
    size = len(question.index.names)
    first, second = np.array(question.query.pairs, np.intp).reshape(-1, 2).T
    order = np.array(question.query.order, np.intp)
    before = np.concatenate([[0.0], np.cumsum(question.weights[order])])
    phrases = list(analysis.phrase_hashes(question.hashes[order]))
    lengths = range(1, len(phrases) + 1)
    worth = np.concatenate(
        [
            (question.weights[first] + question.weights[second]) / 2,
            *(before[length:] - before[:-length] for length in lengths),
        ]
    )
    exact = np.array([analysis.exact_hash(question.query.words)], np.uint64)
    pairs = analysis.pair_hash(question.hashes[first], question.hashes[second])
    rows, at = question.index.pair_rows(np.concatenate([pairs, *phrases, exact]))
    is_pair, is_exact = at < len(first), at == len(worth)
    is_phrase = ~(is_pair | is_exact)
    shared = np.concatenate([shares(worth[: len(first)]), worth[len(first) :]])
    summed = np.bincount(rows[is_pair], shared[at[is_pair]], size).astype(np.float64, copy=False)
    heaviest, found = np.zeros(size), np.zeros(size)
    np.maximum.at(heaviest, rows[is_phrase], worth[at[is_phrase]])
    found[rows[is_exact]] = 1.0
    return PhraseEvidence(summed, heaviest / (float(question.weights.sum()) + 1e-9), found)
