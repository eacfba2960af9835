"""Removes credentials and personal data from a text that is kept, such as a logged question.

It removes more than it has to: a word that looks like a password is lost, and the question is still readable.
"""

import re

from registry.core.scan import credentials
from registry.lib.patterns import lazy

SECRET, EMAIL, NUMBER = "[secret]", "[email]", "[number]"

_LABELS = r"pass(?:word|wd|code|phrase)?|pwd|pin|secret|token|credentials?|(?:api|access|private)[ _-]?key"
_LABELLED = rf"(?i)(?<![a-z0-9])((?:[a-z]{{0,20}}[_-])?(?:{_LABELS})[\"']?\s{{0,3}}"
# In this order. No pattern gives back what it has read, so that each is linear.
_RULES = (
    (lazy(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)", re.DOTALL), SECRET),
    (lazy(r"(?<=://)[^\s/@]++@"), f"{SECRET}@"),
    (lazy(rf"{_LABELLED}[:=]\s{{0,3}}[\"']?)[^\s\"'&]++"), rf"\1{SECRET}"),
    (lazy(rf"{_LABELLED}\bis\b\s{{0,3}}[\"']?)[^\s\"']++"), rf"\1{SECRET}"),
    (lazy(r"(?i)\b(bearer|basic)\s++[a-z0-9+/=._~-]{8,}+"), rf"\1 {SECRET}"),
    (lazy(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"), EMAIL),
    (lazy(r"(?<![\w.-])eyJ[\w-]{8,}+\.[\w-]++(?:\.[\w-]++)?"), SECRET),
)
_LONG = lazy(r"(?<![\w+/=-])[\w+/=-]{24,}+")
_PART = lazy(r"[^\W_]{16,}+")  # of a long text, between separators
_NUMBERS = lazy(r"(?<!\d)\+?\d(?:[ ./()-]{0,2}\d){6,}+")


def redact(text: str) -> str:
    """Return the text without credentials, email addresses and long numbers."""
    text = credentials.replace(text, SECRET)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = _LONG.sub(lambda match: SECRET if _looks_random(match[0]) else match[0], text)
    return _NUMBERS.sub(NUMBER, text)


def _looks_random(text: str) -> bool:
    """Return whether letters and digits are mixed as in a key. Paths and names have short parts and one case."""
    return _mixed(text) and ((text.lower() != text and text.upper() != text) or any(map(_mixed, _PART.findall(text))))


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))
