"""Words with letters of another alphabet that look like Latin ones, and text that a style hides."""

import re
from collections.abc import Iterator

from registry.core.findings import shorten
from registry.core.scan.matches import Match, Rule

_CYRILLIC = dict(zip("аеорсухіјѕԁһӏԛԝкмтнвАВЕКМНОРСТУХІЈЅ", "aeopcyxijsdhlqwkmthbABEKMHOPCTYXIJS", strict=True))
_GREEK = dict(zip("ονρικυαΑΒΕΗΙΚΜΝΟΡΤΧΥΖ", "ovpikuaABEHIKMNOPTXYZ", strict=True))
_OTHER = dict(zip("ɑɡıⅼօոսցѵꓦꓮ", "agilonugvVA", strict=True))
LOOKALIKES = {**_CYRILLIC, **_GREEK, **_OTHER}
_WORD = re.compile(r"[^\W\d_]{3,60}")
_SUSPECT = re.compile(f"[{''.join(LOOKALIKES)}]")
_PUNYCODE = re.compile(r"https?://(?:[\w-]{1,60}\.){0,4}(xn--[\w-]{1,60})", re.IGNORECASE)
_HIDING = re.compile(
    r"<(\w{1,12})\b[^>]{0,300}?(?:\bhidden\b|style\s*=\s*[\"'][^\"'>]{0,200}?(?:display\s*:\s*none"
    r"|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;\"']|opacity\s*:\s*0(?:\.0\d?)?\s*[;\"']"
    r"|(?<!-)color\s*:\s*(?:#f{3,6}|#fefefe|white|transparent|rgba?\(255, ?255, ?255)|(?:left|top|text-indent"
    r"|margin-left)"
    r"\s*:\s*-\d{3,5}(?:px|em)|(?:max-)?height\s*:\s*0(?:px)?\s*[;\"'])|\bcolor\s*=\s*[\"']?(?:#f{3,6}"
    r"|white)\b)[^>]{0,200}>"
    r"([^<]{8,2000})",
    re.IGNORECASE,
)
# White letters on a colour can be seen.
_ON_COLOUR = re.compile(r"\bbackground(?:-color)?\s*:\s*(?!white|#f{3,6}|transparent|none|inherit)", re.IGNORECASE)


def find(text: str, *, markup: bool = False) -> Iterator[Match]:
    """Yield mixed words, hosts in punycode, and in Markdown or HTML the text that a style hides."""
    if not text.isascii() and _SUSPECT.search(text):
        yield from _words(text)
    for match in _PUNYCODE.finditer(text):
        if not _imitates(_unicode(match[1])):
            continue
        yield Match(text.count("\n", 0, match.start()) + 1, Rule.CONFUSABLE, match[0])
    for match in _HIDING.finditer(text) if markup and "<" in text else ():
        if len(match[2].split()) >= 3 and not _ON_COLOUR.search(text, match.start(), match.start(2)):
            yield Match(text.count("\n", 0, match.start()) + 1, Rule.STYLE, shorten(match[2]))


def _unicode(label: str) -> str:
    try:
        return label.encode().decode("idna")
    except UnicodeError:
        return ""


def _words(text: str) -> Iterator[Match]:
    for match in _WORD.finditer(text):
        word = match[0]
        if word.replace("ı", "i").isascii() or not _imitates(word):  # a dotless i is an ordinary letter in Turkish
            continue
        yield Match(text.count("\n", 0, match.start()) + 1, Rule.CONFUSABLE, word)


def _imitates(word: str) -> bool:
    """Check if a word has Latin letters, and all its other letters look like Latin ones."""
    latin = sum(character.isascii() for character in word)
    foreign = [character for character in word if not character.isascii()]
    if not latin or not all(character in LOOKALIKES for character in foreign):
        return False
    if all(character in _GREEK for character in foreign):  # formulas mix a Greek letter with a Latin one
        return len(word) >= 4 and len(foreign) < latin
    return True
