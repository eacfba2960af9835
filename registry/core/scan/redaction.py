"""Removes credentials and personal data from a text that is kept, such as a logged question.

It removes more than it has to: a word that looks like a password is lost, and the question is still readable.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from ipaddress import AddressValueError, IPv6Address

from registry.core.scan import credentials
from registry.lib.patterns import lazy

SECRET, EMAIL, NUMBER, IP = "[secret]", "[email]", "[number]", "[ip]"

Span = tuple[int, int]

_LABELS = r"pass(?:word|wd|code|phrase)?|pwd|pin|secret|token|credentials?|(?:api|access|private)[ _-]?key"
_LABELLED = rf"(?i)(?<![a-z0-9])((?:[a-z]{{0,20}}[_-])?(?:{_LABELS})[\"']?\s{{0,3}}"
# The first group of a pattern stays. No pattern gives back what it has read, so that each is linear.
_PRIVATE_KEY = lazy(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)", re.DOTALL)
_USER_INFO = lazy(r"(?<=://)[^\s/@]++(?=@)")
_ASSIGNED = lazy(rf"{_LABELLED}[:=]\s{{0,3}}[\"']?)[^\s\"'&]++")
_STATED = lazy(rf"{_LABELLED}\bis\b\s{{0,3}}[\"']?)[^\s\"']++")
_HEADER = lazy(r"(?i)\b((?:bearer|basic)\s++)[a-z0-9+/=._~-]{8,}+")
_EMAIL = lazy(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:[.。][\w-]++)++")
_JWT = lazy(r"(?<![\w.-])eyJ[\w-]{8,}+\.[\w-]++(?:\.[\w-]++)?")
_LONG = lazy(r"(?<![\w+/=-])[\w+/=-]{24,}+")
_PART = lazy(r"[^\W_]{16,}+")  # of a long text, between separators
_NUMBER = lazy(r"(?<!\d)\+?\d(?:[ ./()-]{0,2}\d){6,}+")

_BYTE = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
_IPV4 = lazy(rf"(?<![0-9])(?<![0-9]\.){_BYTE}(?:\.{_BYTE}){{3}}(?!\.?[0-9])")
_VERSION = lazy(r"(?i)(?<![a-z])v(?:er|ersions?)?\.?(?: is)?[\s:=]{0,3}\Z")
_VERSION_CHARS = 16
_IPV6 = lazy(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,8}(?:[0-9.]{7,15}|[0-9A-Fa-f]{1,4})?(?![\w:])")


def redact(text: str) -> str:
    """Return the text without credentials, email addresses, IP addresses and long numbers.

    Full-width characters count as the plain ones that they stand for. The rest of the text is unchanged.
    """
    plain = _plain(text)
    for find, mark in _RULES:
        spans = list(find(plain))
        if spans:
            text, plain = _without(text, spans, mark), _without(plain, spans, mark)
    return text


def _plain(text: str) -> str:
    """Return a text of the same length to search in: NFKC of each character, and `_` for accents and hidden ones."""
    return text if text.isascii() else "".join(map(_plain_character, text))


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.category(character) in ("Cf", "Mn"):
        return "_"
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def _without(text: str, spans: Iterable[Span], mark: str) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], mark]
        done = end
    return "".join([*parts, text[done:]])


def _all(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    return lambda text: (
        (match.end(1) if match.lastindex else match.start(), match.end()) for match in pattern.finditer(text)
    )


def _ipv6(text: str) -> Iterator[Span]:
    return (match.span() for match in _IPV6.finditer(text) if _is_ipv6(match[0]))


def _is_ipv6(text: str) -> bool:
    """Return whether it is an address, and not a time or code such as `Abc::Def` and `a[::2]`.

    An address has a digit, and its first part has four characters, unless no part is left out. `::ffff:10.0.0.1` has
    an address of four bytes in it. `::1` tells nothing about anybody.
    """
    usual = len(text.partition(":")[0]) == 4 or "::" not in text or text.lower().startswith("::ffff:")
    if not usual or not any(map(str.isdigit, text)):
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def _ipv4(text: str) -> Iterator[Span]:
    """Yield four numbers up to 255, unless the text says that they are a version."""
    for match in _IPV4.finditer(text):
        before = text[max(0, match.start() - _VERSION_CHARS) : match.start()]
        if not _VERSION.search(before):
            yield match.span()


def _long(text: str) -> Iterator[Span]:
    return (match.span() for match in _LONG.finditer(text) if _looks_random(match[0]))


def _looks_random(text: str) -> bool:
    """Return whether letters and digits are mixed as in a key. Paths and names have short parts and one case."""
    return _mixed(text) and ((text.lower() != text and text.upper() != text) or any(map(_mixed, _PART.findall(text))))


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


# In this order.
_RULES: tuple[tuple[Callable[[str], Iterator[Span]], str], ...] = (
    (credentials.spans, SECRET),
    *((_all(pattern), SECRET) for pattern in (_PRIVATE_KEY, _USER_INFO, _ASSIGNED, _STATED, _HEADER)),
    (_all(_EMAIL), EMAIL),
    (_all(_JWT), SECRET),
    (_ipv6, IP),
    (_ipv4, IP),
    (_long, SECRET),
    (_all(_NUMBER), NUMBER),
)
