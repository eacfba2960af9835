"""Orders in prose: against earlier instructions, against people, and to load an address and obey it."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from registry.core.findings import shorten
from registry.core.scan import authority_words, order_words, page_words
from registry.core.scan.any_case import AnyCase, fold
from registry.core.scan.matches import Match, Rule
from registry.core.scan.quoting import about_people, in_quotes, quoted, refused
from registry.lib.patterns import lazy

_FLAGS = re.IGNORECASE | re.MULTILINE


class _Order(NamedTuple):
    rule: Rule
    triggers: tuple[str, ...]
    expression: str
    negated: bool = False  # the order is itself a negation, such as “do not tell”


_ORDERS = [
    *(
        _Order(Rule.OVERRIDE, triggers, rf"(?<!\w)(?:{each})")
        for triggers, each in zip(order_words.OVERRIDE_TRIGGERS, order_words.OVERRIDE, strict=True)
    ),
    *(_Order(Rule.OVERRIDE, triggers, each) for triggers, each in authority_words.AUTHORITY),
    *(
        _Order(Rule.CONCEAL, triggers, each, negated=True)
        for triggers, each in zip(order_words.CONCEAL_TRIGGERS, order_words.CONCEAL, strict=True)
    ),
    *(
        _Order(Rule.CONCEAL, triggers, each)
        for triggers, each in zip(order_words.WAY_TRIGGERS, order_words.CONCEAL_WAYS, strict=True)
    ),
    *(_Order(Rule.CONCEAL, triggers, each, negated=True) for triggers, each in page_words.SILENT_STEPS),
]
_FETCH = AnyCase(order_words.FETCH, re.MULTILINE)
# Every form starts at the start of a word, or with a sign of a language without blanks. Few places have to be compared.
_OBEY = AnyCase(
    rf"(?:\b|(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]))(?:{order_words.OBEY}|{page_words.OBEY_ALL})", re.MULTILINE
)
_ADDRESS = lazy(r"https?://[!#-&(*-;=?-Z^_a-~]{4,300}|\bcurl -|\bWebFetch\b|\bpastebin\b|\bgist\b", re.IGNORECASE)
_GUIDE = lazy(
    r"\b(?:install\w{0,6}|set-?\s?up|setup|build|upgrade|migration|contribut\w{1,4}|download|licen[sc]e|usage"
    r"|official|getting[- ]started|quick ?start|docs?|documentation|installationsanleitung|einrichtung|instalación"
    r"|instalação|installazione|installatie|instalacj\w{1,3}|установ\w{2,6}|kurulum\w{0,6})\b|安装|インストール|설치",
    re.IGNORECASE,
)
_SENTENCE = lazy(r"[.!?]\s|[。！？]|\n\s*\n|\n\s*[-*#]\s")
_STRONG = lazy(r"\b(?:all|every|any|exactly|whatever|everything|always|strictly)\b", re.IGNORECASE)
_NEGATED_AFTER = lazy(r"지 ?마|지 ?말|않|ない|ません|わず|せず")  # languages that negate a verb at its end
# A file of the skill, such as “in `references/steps.md`”.
_OWN_FILE = lazy(r"[^.!?。\n]{0,40}?[`\[(\s]((?:\./)?(?:references|assets|scripts|docs|templates)/[\w./-]{1,80})")
_TO_INSTALL = lazy(r"[\W\d]*(?:to|para|per|pour|um|om|aby|чтобы)\b.{0,30}\b\w{0,3}instal", re.IGNORECASE)
_SOFTENED = lazy(r"[^.!?\n]{0,30}\b(?:unless|until|yet)\b", re.IGNORECASE)
_WINDOW = 260
_NEAR = 40


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield the orders in a text. Lines that quote a warning are blank already."""
    plain = _visible(text)
    at, everything = 0, plain.lower()
    possible = [order for order in _ORDERS if any(word in everything for word in order.triggers)]
    for paragraph in plain.split("\n\n"):
        lowered = paragraph.lower()
        for order in possible:
            if any(word in lowered for word in order.triggers):
                yield from _in_paragraph(order, paragraph, plain, at, first_line)
        at += len(paragraph) + 2
    yield from _remote(plain, first_line)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """Compile a pattern when a text first has one of its triggers. All of them take a tenth of a second."""
    return lazy(expression, _FLAGS)


def _in_paragraph(order: _Order, paragraph: str, text: str, at: int, first_line: int) -> Iterator[Match]:
    for match in _pattern(order.expression).finditer(paragraph):
        reported = quoted(paragraph, match.start()) or (not order.negated and refused(paragraph, match.start()))
        softened = order.rule is Rule.CONCEAL and _SOFTENED.search(paragraph, match.end(), match.end() + _NEAR)
        if not (reported or softened):
            yield _match(text, at + match.start(), order.rule, match[0], first_line)


def _visible(text: str) -> str:
    """Return the text as a reader sees it: without invisible characters, and with plain letters."""
    if text.isascii():
        return text
    shown = re.sub(r"[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]", "", text)
    if re.search(r"[\u0300-\u036f\U0001d400-\U0001d7ff\uff21-\uff5a]", shown):
        return unicodedata.normalize("NFKC", shown)
    return shown


def _match(text: str, at: int, rule: Rule, detail: str, first_line: int) -> Match:
    return Match(text.count("\n", 0, at) + first_line, rule, shorten(detail))


def _remote(text: str, first_line: int) -> Iterator[Match]:
    """Find addresses whose content is to be obeyed: an order to load one, and an order to follow what it says."""
    end = 0
    addresses = list(_ADDRESS.finditer(text))
    # The windows of many addresses overlap, so the slow pattern reads the text once, not each window.
    folded = fold(text) if addresses else ""
    obeys = [match.span() for match in _OBEY.small.finditer(folded)]
    for address in addresses:
        if address.start() < end:
            continue
        before = _SENTENCE.split(text[max(0, address.start() - _WINDOW) : address.start()])[-1]
        if about_people(before):
            continue
        loads = (
            _FETCH.search(before)
            or _FETCH.small.search(folded, address.end(), address.end() + _NEAR)
            or address[0].lower().startswith(("curl", "webf"))
        )
        first = bisect_left(obeys, (address.start() - len(before), 0))
        last = bisect_left(obeys, (address.end() + _WINDOW, 0))
        for start, stop in obeys[first:last]:
            known = loads if start >= address.end() else loads or _STRONG.search(before)
            if known and _is_order(text, start, stop):
                end = address.end() + _WINDOW
                excerpt = text[max(0, min(start, address.start() - 60)) : max(stop, address.end())]
                yield _match(text, address.start(), Rule.REMOTE_ORDERS, excerpt, first_line)
                break


def _installs(text: str, start: int) -> bool:
    line = text[max(text.rfind("\n", 0, start) + 1, start - 120) : start]
    return bool(_TO_INSTALL.match(line))


def _is_order(text: str, start: int, stop: int) -> bool:
    """Check that the order is neither refused nor about the guide of a product or a file of the skill."""
    if (
        _GUIDE.search(text, max(0, start - 5), stop + 30)
        or _installs(text, start)
        or refused(text, start + 1)
        or in_quotes(text, start)
    ):
        return False
    own = _OWN_FILE.match(text, stop)
    if own and own[1] not in text[max(0, start - 2 * _WINDOW) : start]:  # else it may be the file that was downloaded
        return False
    return not _NEGATED_AFTER.search(text, start, stop + 8)
