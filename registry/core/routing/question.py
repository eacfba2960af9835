"""A question against an index: the evidence in each skill, computed once and read by the links.

Evidence depends on the question, the skill and the document frequencies of the whole index, never on which skills may
be named. So a caller who sees fewer skills gets the same scores.
"""

import re
from collections.abc import Sequence
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
_PHRASE_TERMS = analysis.PHRASE_TERMS

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One number from 0 to about 1 for each row of the index.

    `summary` and `text` are BM25F: of name, title, description and triggers, and what all other fields add to it.
    `cover` is the share of the question's weight that the summary has, `lead_cover` what introduction and headings add
    to it, `text_cover` what the text adds. `head` is the share of the first part of the question in all but the text.
    `pairs`: adjacent words; `name`: words of the name, the earlier the better; `name_share`: how much of the name is in
    the question; `triggers`: whole triggers and phrases.
    """

    summary: Floats
    text: Floats
    cover: Floats
    lead_cover: Floats
    text_cover: Floats
    head: Floats
    pairs: Floats
    name: Floats
    name_share: Floats
    triggers: Floats


@dataclass(frozen=True, eq=False)
class Question:
    """A question, an index, and the encoder of the index if there is one."""

    query: words.Query
    index: Index
    encoder: Encoder | None = None

    @cached_property
    def hits(self) -> tuple[Hits, ...]:
        """The rows with each term of the question."""
        return tuple(self.index.hits(words.term_hash(term.stem)) for term in self.query.terms)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each term of the question: how much it says."""
        terms = zip(self.query.terms, self.hits, strict=True)
        return np.array([term.weight * background.idf(term.stem, len(hits.rows)) for term, hits in terms])

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
        )  # fmt: skip
        total: Floats = np.sum([weight * values for weight, values in parts], axis=0)
        return total

    @cached_property
    def exact_row(self) -> int | None:
        """The row of the skill whose name is the whole question."""
        return self.index.row_of.get("-".join(_NAME_WORD.findall(words.normalise(self.query.text))))

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

    def phrase_similarity(self, rows: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
        """Return, for each row, the cosine of its phrase nearest to the question, and the number of this phrase."""
        best, which = np.zeros(len(rows)), np.full(len(rows), -1, np.intp)
        vector = self._vector
        if vector is None:
            return best, which
        length = float(np.sqrt(vector @ vector))
        for at, row in enumerate(rows):
            phrases = self.index.phrases(int(row)).astype(np.float32)
            if len(phrases):
                lengths = np.sqrt(np.einsum("ij,ij->i", phrases, phrases)).astype(np.float64) * length
                cosines = np.divide(phrases @ vector, lengths, out=np.zeros(len(phrases)), where=lengths > 0)
                which[at] = int(cosines.argmax())
                best[at] = max(float(cosines[which[at]]), 0.0)
        return best, which

    @cached_property
    def _vector(self) -> NDArray[np.float32] | None:
        if self.encoder is None or self.encoder.dim != self.index.dim:
            return None
        vector: NDArray[np.float32] = analysis.rounded(self.encoder.encode([self.query.text]))[0].astype(np.float32)
        return vector


def ask(text: str, index: Index, encoder: Encoder | None = None) -> Question:
    return Question(words.query(text), index, encoder)


def _evidence(question: Question) -> Evidence:
    size = len(question.index.names)
    summary, everything, cover, lead_cover, text_cover, head, name = (np.zeros(size) for _ in range(7))
    name_terms = np.zeros(size)
    total = head_total = name_total = 1e-9
    for at, (term, hits, weight) in enumerate(zip(question.query.terms, question.hits, question.weights, strict=True)):
        rows, earliness = hits.rows, 1.0 / (1.0 + at / 8)
        summary[rows] += weight * (hits.summary / (SATURATION + hits.summary))
        both = hits.summary + hits.full
        everything[rows] += weight * (both / (SATURATION + both))
        summarised, prominent = (hits.fields & _SUMMARY) > 0, (hits.fields & _PROMINENT) > 0
        cover[rows] += weight * summarised
        lead_cover[rows] += weight * (prominent & ~summarised)
        text_cover[rows] += weight * ~prominent
        named = (hits.fields & NAME) > 0
        name[rows] += weight * earliness * named
        name_terms[rows] += named
        total += weight
        name_total += weight * earliness
        if term.in_head:
            head[rows] += weight * prominent
            head_total += weight
    return Evidence(
        summary=summary / total,
        text=(everything - summary) / total,
        cover=cover / total,
        lead_cover=lead_cover / total,
        text_cover=text_cover / total,
        head=head / head_total,
        pairs=_pairs(question, size),
        name=name / name_total,
        name_share=name_terms / question.index.name_lengths,
        triggers=_triggers(question, size, total),
    )


def _pairs(question: Question, size: int) -> Floats:
    found, total = np.zeros(size), 1e-9
    hashes = analysis.hashed(term.stem for term in question.query.terms)
    for first, second in question.query.pairs:
        weight = float(question.weights[first] + question.weights[second]) / 2
        pair = analysis.pair_hash(hashes[first : first + 1], hashes[second : second + 1])
        found[question.index.pair_rows(int(pair[0]))] += weight
        total += weight
    return found / total


def _triggers(question: Question, size: int, total: float) -> Floats:
    """Return the weight of the heaviest trigger or phrase of each skill that is in the question as a whole."""
    found = np.zeros(size)
    stems = [question.query.terms[at].stem for at in question.query.order]
    weights: Sequence[float] = [float(question.weights[at]) for at in question.query.order]
    seen: dict[int, float] = {}
    for start in range(len(stems)):
        for end in range(start + 1, min(start + _PHRASE_TERMS, len(stems)) + 1):
            seen.setdefault(analysis.phrase_hash(stems[start:end]), sum(weights[start:end]))
    hashes = np.fromiter(seen, np.uint64, len(seen))
    for row_set, phrase in question.index.any_pair_rows(hashes):
        found[row_set] = np.maximum(found[row_set], seen[phrase])
    return found / total
