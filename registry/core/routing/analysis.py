"""A skill as arrays: its terms with weights, its word pairs, its mentions of others, and its vectors.

An Analysed depends on the skill alone, so it is stored per digest and never updated. Weights use fixed lengths
instead of averages over all skills, so another skill changes nothing here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import packing
from registry.core.routing.exclusions import Mention
from registry.core.routing.packing import Damaged as Damaged
from registry.core.routing.skill_text import SkillText
from registry.core.routing.vectors import Encoder
from registry.core.routing.words import REQUEST_WORDS, term_hash, terms, words

FORMAT = "7"  # increment after every change of what is stored; an Analysed of another format is made anew

NAME, TITLE, DESCRIPTION, TRIGGERS, LEAD, HEADINGS, BODY, ANCHOR = (1 << bit for bit in range(8))
SUMMARY_FIELDS = NAME | TITLE | DESCRIPTION | TRIGGERS
FIELD_WORDS = {
    NAME: "name", TITLE: "title", DESCRIPTION: "description", TRIGGERS: "triggers", LEAD: "introduction",
    HEADINGS: "headings", BODY: "text", ANCHOR: "what other skills say about it",
}  # fmt: skip
# BM25F: the weight of a field, and the usual number of its terms.
FIELD_WEIGHTS = {
    NAME: (3.0, 2.5), TITLE: (1.0, 3.0), DESCRIPTION: (2.0, 30.0), TRIGGERS: (2.0, 10.0), LEAD: (1.0, 60.0),
    HEADINGS: (1.0, 50.0), BODY: (0.4, 700.0),
}  # fmt: skip
LENGTH_SHARE = 0.75  # b of BM25
_PAIRED = (NAME, TITLE, DESCRIPTION, TRIGGERS, LEAD, HEADINGS)
_FACTOR, _RIGHT, _LEFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(7), np.uint64(31)
_MENTION_TERMS = 24
PHRASE_TERMS = 6  # a longer phrase or trigger is not looked for as a part of a question
EXACT_WORDS = 16  # nor a longer one as the whole question

Hashes = NDArray[np.uint64]
Bytes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Analysed:
    """The derived arrays of one skill.

    `hashes` are its distinct terms in rising order. For each, `summary` is the weight in name, title, description and
    triggers, `full` the weight elsewhere, and `fields` a set of field bits. `pairs` are hashes of adjacent terms.
    `vector` and the rows of `phrase_vectors` are multiples of unit vectors, rounded to whole numbers, so that sums over
    them are exact in any order; they are empty without an encoder.
    """

    name: str
    title: str
    triggers: tuple[str, ...]
    phrases: tuple[str, ...]
    spellings: str  # stems of the summary and the headings, for search words with a typing error; one text is small
    name_terms: Hashes  # in order
    hashes: Hashes
    summary: NDArray[np.float16]
    full: NDArray[np.float16]
    fields: NDArray[np.uint8]
    pairs: Hashes
    mentions: tuple[str, ...]  # names, one for each of `mention_hashes`
    mention_hashes: Hashes
    vector: Bytes
    phrase_vectors: Bytes

    def to_bytes(self) -> bytes:
        return packing.pack(FORMAT, self)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Analysed":
        """Read what `to_bytes` returned. Raise Damaged if anything about it is wrong."""
        return packing.unpack(FORMAT, cls, content)


def format_of(encoder: Encoder | None) -> str:
    """Return the version of stored analyses: of this code and of the encoder, whose vectors they contain."""
    return f"{FORMAT}:{encoder.name}:{encoder.version}" if encoder else FORMAT


def analyse(text: SkillText, encoder: Encoder | None = None) -> Analysed:
    """Return the arrays of a skill. Without an encoder it has no vectors."""
    by_field = {
        NAME: terms(text.name),
        TITLE: terms(text.title),
        DESCRIPTION: terms(text.description),
        TRIGGERS: terms("\n".join((*text.triggers, *text.tags))),
        LEAD: terms(text.lead),
        HEADINGS: terms(text.headings),
        BODY: terms(text.body),
    }
    vocabulary = _Vocabulary.of(by_field)
    hashes, summary, full, fields = vocabulary.weighted()
    mentions = [(mention.name, term) for mention in text.mentions for term in _mention_terms(text.name, mention)]
    vector, phrase_vectors = _vectors(text, encoder)
    return Analysed(
        name=text.name,
        title=text.title,
        triggers=(*text.triggers, *text.tags),
        phrases=text.phrases,
        spellings=" ".join(sorted({stem for field in _PAIRED for stem in by_field[field] if len(stem) > 3})),
        name_terms=vocabulary.hashes_of(NAME),
        hashes=hashes,
        summary=summary,
        full=full,
        fields=fields,
        pairs=_pairs(text, vocabulary),
        mentions=tuple(name for name, _ in mentions),
        mention_hashes=hashed(term for _, term in mentions),
        vector=vector,
        phrase_vectors=phrase_vectors,
    )


def hashed(stems: Iterable[str]) -> Hashes:
    return np.array([term_hash(stem) for stem in stems], dtype=np.uint64)


def pair_hashes(stems: Hashes) -> Hashes:
    """Return the hashes of adjacent terms."""
    return pair_hash(stems[:-1], stems[1:])


def pair_hash(first: Hashes, second: Hashes) -> Hashes:
    mixed: Hashes = (first * _FACTOR) ^ (second >> _RIGHT) ^ (second << _LEFT)
    return mixed


def phrase_hashes(terms: Hashes) -> Iterator[Hashes]:
    """Yield the hashes of all phrases of one term, of two, and so on, up to PHRASE_TERMS. Pairs have other hashes."""
    found: Hashes = terms ^ _FACTOR
    for length in range(1, min(PHRASE_TERMS, len(terms)) + 1):
        found = found if length == 1 else pair_hash(found[:-1], terms[length - 1 :])
        yield found


def exact_hash(all_words: Sequence[str]) -> np.uint64:
    """Return the hash of a phrase with all its words as they are written. It is stored among the pairs."""
    return np.uint64(term_hash("\0".join(("", *all_words))))


def rounded(vectors: NDArray[np.float32]) -> Bytes:
    """Return vectors as whole numbers from -127 to 127, each as long as possible."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True) if vectors.size else np.zeros((*vectors.shape[:-1], 1))
    scale = np.divide(127.0, largest, out=np.zeros_like(largest, dtype=np.float64), where=largest > 1e-9)
    return np.rint(vectors * scale).astype(np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class _Vocabulary:
    """The distinct terms of a skill as hashes. `places` has the terms of each field in order, as positions in them."""

    hashes: Hashes
    places: dict[int, NDArray[np.intp]]

    @classmethod
    def of(cls, by_field: dict[int, list[str]]) -> "_Vocabulary":
        distinct = dict.fromkeys(stem for stems in by_field.values() for stem in stems)
        place_of = {stem: place for place, stem in enumerate(distinct)}
        places = {
            field: np.array([place_of[stem] for stem in stems], dtype=np.intp) for field, stems in by_field.items()
        }
        return cls(hashed(distinct), places)

    def hashes_of(self, field: int) -> Hashes:
        return self.hashes[self.places[field]]

    def weighted(self) -> tuple[Hashes, NDArray[np.float16], NDArray[np.float16], NDArray[np.uint8]]:
        """Return the hashes in rising order, with the columns summary weight, full weight and field bits."""
        size = len(self.hashes)
        summary, full, fields = np.zeros(size), np.zeros(size), np.zeros(size, np.uint8)
        for field, places in self.places.items():
            weight, usual = FIELD_WEIGHTS[field]
            weight /= 1 - LENGTH_SHARE + LENGTH_SHARE * len(places) / usual
            counts = np.bincount(places, minlength=size)
            weights = summary if field & SUMMARY_FIELDS else full
            weights += weight * counts
            fields[counts > 0] |= field
        order = np.argsort(self.hashes)
        return self.hashes[order], summary.astype(np.float16)[order], full.astype(np.float16)[order], fields[order]


def _pairs(text: SkillText, vocabulary: _Vocabulary) -> Hashes:
    phrases = (*text.phrases, *text.triggers, *text.tags)
    stemmed = [hashed(terms(phrase)) for phrase in phrases]
    whole = [list(phrase_hashes(stems))[-1][0] for stems in stemmed if 0 < len(stems) <= PHRASE_TERMS]
    whole += [exact_hash(written) for phrase in phrases if 0 < len(written := list(words(phrase))) <= EXACT_WORDS]
    adjacent = [pair_hashes(vocabulary.hashes_of(field)) for field in _PAIRED]
    return np.unique(np.concatenate([np.array(whole, np.uint64), *adjacent]))


def _mention_terms(own_name: str, mention: Mention) -> list[str]:
    if mention.name == own_name:
        return []
    stems = dict.fromkeys(stem for stem in terms(mention.text) if stem not in REQUEST_WORDS)
    return list(stems)[:_MENTION_TERMS]


def _vectors(text: SkillText, encoder: Encoder | None) -> tuple[Bytes, Bytes]:
    if encoder is None:
        return np.empty(0, np.int8), np.empty((0, 0), np.int8)
    name = text.name.replace("-", " ")
    encoded = rounded(encoder.encode([f"{name}. {text.description}", *text.phrases, name]))
    return encoded[0], encoded[1:]
