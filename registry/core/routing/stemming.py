"""The Porter stemmer: “migrate”, “migrating” and “migration” have one stem.

M. F. Porter, “An algorithm for suffix stripping”, Program 14 (1980). Words with other letters than a to z keep their
form.
"""

import re
from functools import lru_cache

_LETTERS = re.compile(r"[a-z]+")
_MEASURE = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)+(?:[^aeiouy]|(?<=[aeiou])y)+")  # y after a vowel is a consonant
_IRREGULAR = {
    "analysis": "analys", "analyses": "analys", "analyze": "analys", "analyzed": "analys", "analyzes": "analys",
    "analyzing": "analys", "analyse": "analys", "analysed": "analys", "analysing": "analys", "analyzer": "analys",
    "creation": "creat", "written": "write", "wrote": "write", "built": "build", "ran": "run", "sent": "send",
    "children": "child", "indices": "index", "indexes": "index", "criteria": "criterion", "buying": "buy",
}  # fmt: skip
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "isation": "ize",
    "ization": "ize", "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ise",
    "al", "er", "ic", "ion", "ou",
)  # fmt: skip


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < 3 or not _LETTERS.fullmatch(word):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _plural(word)
    word = _past_and_progressive(word)
    if word.endswith("y") and word[-2:-1] not in "aeiou" and _has_vowel(word[:-1]):  # as in Porter's second version
        word = word[:-1] + "i"
    for suffixes in (_STEP_2, _STEP_3):
        word = _replaced(word, suffixes)
    word = _step_4(word)
    return _final(word)


def _measure(word: str) -> int:
    return len(_MEASURE.findall(word))


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiouy" for letter in word)


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and len(base) > 1 and _has_vowel(base):
            if base.endswith(("at", "bl", "iz")):
                return base + "e"
            if base[-1] == base[-2:-1] and base[-1] not in "aeioulsz":
                return base[:-1]
            return base + "e" if _measure(base) == 1 and _short(base) else base
    return word


def _short(word: str) -> bool:
    """Return True for a word that ends in consonant, vowel, consonant, such as “hop”."""
    return len(word) > 2 and word[-1] not in "aeiouwxy" and word[-2] in "aeiouy" and word[-3] not in "aeiou"


def _replaced(word: str, suffixes: dict[str, str]) -> str:
    for suffix, other in suffixes.items():
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + other if _measure(base) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t"))):
                return base
            return word
    return word


def _final(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _short(base)):
            word = base
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
