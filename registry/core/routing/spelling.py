"""Search words as somebody types them: with typing errors, and with a last word that is not finished.

Only the search box uses it. A question of an agent is taken as it is.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from registry.core.routing.index import Index
from registry.core.routing.stemming import stem
from registry.core.routing.words import Query, Term, term_hash

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_LEAST_CHARS = 4  # of a word that may have a typing error; shorter words are close to too many others
_CORRECTIONS, _COMPLETIONS = 3, 12
_CORRECTED_WORDS = 4  # of a query; each takes milliseconds
_CORRECTED, _COMPLETED = 0.7, 0.8  # weight, compared with a word that is found as it is


_stem = stem.__wrapped__  # without its cache, which is for real words


def widened(query: Query, index: Index) -> Query:
    """Return the query with words of the index in place of unknown words, and the words that its last word starts."""
    last = query.words[-1] if query.words and query.text[-1:].isalnum() else ""
    unknown = [term for term in query.terms if not index.contains(term_hash(term.stem))][:_CORRECTED_WORDS]
    found: dict[str, Term] = {}
    for term in query.terms:
        for spelt in _spellings(term, index, last, correct=term in unknown):
            found.setdefault(spelt.stem, spelt)
    if last and last not in {term.word for term in query.terms}:  # a stop word, or the start of one word
        for each in index.completions(last, _COMPLETIONS):
            found.setdefault(each, Term(each, last, _COMPLETED, in_head=True))
    position = {term: at for at, term in enumerate(found)}
    kept = [position[query.terms[at].stem] for at in query.order if query.terms[at].stem in position]
    pairs = tuple((a, b) for a, b in pairwise(kept) if a != b)
    return replace(query, terms=tuple(found.values()), pairs=tuple(dict.fromkeys(pairs)), order=tuple(kept))


def _spellings(term: Term, index: Index, last: str, *, correct: bool) -> Iterator[Term]:
    if not correct:
        yield term
    completed = []
    if term.word == last:
        completed = [each for each in index.completions(last, _COMPLETIONS) if each != term.stem]
        yield from (replace(term, stem=each, weight=term.weight * _COMPLETED) for each in completed)
    if correct and not completed:
        nearest = _corrections(term.word, index)
        yield from (replace(term, stem=each, weight=term.weight * _CORRECTED) for each in nearest)
        if not nearest:
            yield term


def _corrections(word: str, index: Index) -> list[str]:
    """Return the terms that differ from a word by one letter: left out, added, replaced or swapped with the next."""
    if len(word) < _LEAST_CHARS:
        return []
    found: dict[str, None] = {}
    for stemmed in map(_stem, _edits(word)):
        if stemmed not in found and index.spells(stemmed):
            found[stemmed] = None
            if len(found) == _CORRECTIONS:
                break
    return list(found)


def _edits(word: str) -> Iterator[str]:
    """Yield every text that is one edit away, the likely errors first."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield from (a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1)
    yield from (a + b[1:] for a, b in parts if b)
    yield from (a + letter + b for a, b in parts for letter in _LETTERS)
    yield from (a + letter + b[1:] for a, b in parts if b for letter in _LETTERS)
