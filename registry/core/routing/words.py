"""Words of a text as terms: lower case, without accents, stemmed; two-character terms for scripts without spaces.

The same function reads skills and questions, so a term of a question equals a term of a skill whatever its form.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from registry.core.routing.stemming import stem
from registry.core.routing.stop_words import ASKING, FUNCTION_WORDS

QUERY_CHARS = 4_000  # read of a question, by an encoder too; most texts have their 120 terms in half of it
QUERY_TERMS = 120  # distinct terms of a question; the later ones are left out
WORD_CHARS = 40  # of a longer word only the start counts

# Scripts without spaces between words, and Korean, whose words carry endings.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
_SPELT = r"c\+\+|[cf]#|\.net\b"  # words with other characters than letters and digits
_WORD = re.compile(rf"{_SPELT}|[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’](?:s|t|re|ve|ll|d|m)\b)?")
_ASCII_WORD = re.compile(
    rf"{_SPELT}|[a-z0-9]+(?:'(?:s|t|re|ve|ll|d|m)\b)?"
)  # the same in ASCII, lower case, and faster
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_APOSTROPHE = re.compile(r"['’](?:s|t|re|ve|ll|d|m)$")
# The request is named first; what follows these words describes its circumstances.
_HEAD_END = re.compile(
    r"[,;:.!?\n]|\b(?:for|with|using|from|because|so that|when|while|after|before|if)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|\s[–—]\s")
# “We are a small bakery.” says who asks; “How do we …?” and “Write …” say what for.
_BACKGROUND = re.compile(
    r"\W*(?:we['’]?(?:re|ve)?|i['’]?(?:m|ve)?|our|my|it['’]?s?|they|there|the|this|currently|right now|most|nobody)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\?|\b(?:help|need|want|should|how|can you|could you|please|looking (?:for|to)|would like|trying to|let['’]?s)\b",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"(?<=\W)\w{1,40}\Z")  # of a text that was cut, perhaps a part of a word
_HEAD_TERMS = 2  # a shorter head is continued after the next separator

REQUEST_WORDS = frozenset(map(stem, ASKING.split()))
STOP_WORDS = frozenset(FUNCTION_WORDS.split())
_ASKING_WEIGHT = 0.35
_BACKGROUND_WEIGHT = 0.3


def _accents() -> dict[int, str]:
    table = {ord("ø"): "o", ord("æ"): "ae", ord("œ"): "oe", ord("ł"): "l", ord("đ"): "d", ord("ı"): "i"}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii():
            table.setdefault(code, base)
    return table


_ACCENTS = _accents()


def normalise(text: str) -> str:
    """Return a text in lower case, without accents and with compatibility forms replaced."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().translate(_ACCENTS)


def words(text: str) -> Iterator[str]:
    """Yield the normalised words of a text in order, stop words included, not stemmed."""
    if text.isascii():
        yield from map(_ascii_word, _ASCII_WORD.findall(text.lower()))
        return
    for word in _WORD.findall(normalise(text)):
        if word.isalnum() and word.isascii():
            yield word[:WORD_CHARS]
        elif _IS_UNSPACED.match(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            yield _APOSTROPHE.sub("", word)[:WORD_CHARS]


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, without stop words, repeated as often as they occur."""
    if text.isascii():  # the same, several times faster
        return list(filter(None, map(_ascii_term, _ASCII_WORD.findall(text.lower()))))
    return list(filter(None, map(_term, words(text))))


def _term(word: str) -> str:
    """Return the stem of a word, or an empty text for a stop word."""
    return "" if word in STOP_WORDS else stem(word)


@lru_cache(maxsize=100_000)
def _ascii_term(word: str) -> str:
    return _term(_ascii_word(word))


def _ascii_word(word: str) -> str:
    return (word.partition("'")[0] if "'" in word else word)[:WORD_CHARS]


def found_in(text: str, stems: frozenset[str]) -> list[str]:
    """Return the distinct words of a text that have one of these stems, as they are written there."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        if not word.isascii() and _IS_UNSPACED.match(word):
            found.update((pair, None) for pair in words(word) if pair in stems)
        elif not stems.isdisjoint(_terms_of_word(word)):
            found[word] = None
    return list(found)


@lru_cache(maxsize=20_000)
def _terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of a word. A search asks for all words of a hundred descriptions, and they return often."""
    return tuple(terms(word))


@lru_cache(maxsize=200_000)
def term_hash(term: str) -> int:
    """Return a 64-bit number for a term, equal in every process."""
    return int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a question. `word` is its form in the question, `weight` is below 1 for words of little meaning."""

    stem: str
    word: str
    weight: float
    in_head: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A question as terms.

    `terms` are distinct, in order of their first use. `pairs` are positions in it, of terms beside each other. `order`
    has the positions of all terms, repeated as in the question.
    """

    text: str
    terms: tuple[Term, ...]
    pairs: tuple[tuple[int, int], ...]
    order: tuple[int, ...]
    words: tuple[str, ...]  # all words of the question, for exact names and triggers
    asking: str = ""  # its sentences that ask for something, if others do not

    @property
    def emphasised(self) -> str:
        """The question with the sentences that ask for something twice."""
        return f"{self.text} {self.asking}" if self.asking else self.text

    @property
    def empty(self) -> bool:
        return not self.terms


def query(text: str) -> Query:
    """Read a question. The work is bounded: its first 4,000 characters and their first 120 distinct terms count."""
    text, cut = text[:QUERY_CHARS], len(text) > QUERY_CHARS
    asking = "" if cut else _asking(text)
    requested = frozenset(terms(asking)) if asking else None
    read = _LAST_WORD.sub("", text) if cut else text
    head_end = _head_end(read)
    found: dict[str, Term] = {}
    order: list[str] = []
    all_words: list[str] = []
    for part, in_head in ((read[:head_end], True), (read[head_end:], False)):
        for word in words(part):
            all_words.append(word)
            term = _term(word)
            if not term:
                continue
            if term not in found:
                if len(found) >= QUERY_TERMS:
                    break
                weight = _ASKING_WEIGHT if term in REQUEST_WORDS else 1.0
                weight *= 1.0 if requested is None or term in requested else _BACKGROUND_WEIGHT
                found[term] = Term(term, word, weight * _position_weight(len(found)), in_head)
            order.append(term)
    position = {term: at for at, term in enumerate(found)}
    positions = [position[term] for term in order]
    pairs = dict.fromkeys((a, b) for a, b in pairwise(positions) if a != b)
    return Query(
        text, tuple(found.values()), tuple(pairs), tuple(positions), tuple(all_words[: 2 * QUERY_TERMS]), asking
    )


def _position_weight(at: int) -> float:
    """Return 1 for the first terms and less for later ones, so that a long text asks for what it starts with."""
    return 1.0 if at < 24 else 24 / at


def _asking(text: str) -> str:
    """Return the sentences that ask for something. Empty if all sentences do, or none does."""
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    asking = [sentence for sentence in sentences if not _BACKGROUND.match(sentence) or _REQUEST.search(sentence)]
    if not asking or len(asking) == len(sentences):
        return ""
    return " ".join(asking)


def _head_end(text: str) -> int:
    """Return the end of the first part of a question that has at least two terms of meaning."""
    start = count = 0
    for end in _HEAD_END.finditer(text, 0, 2_000):
        count += sum(term not in REQUEST_WORDS for term in terms(text[start : end.start()]))
        if count >= _HEAD_TERMS:
            return end.start()
        start = end.start()
    return len(text)
