"""Lint rules about what may harm whoever loads the skill: code run unread, orders against people, what nobody can read.

They know what is written plainly, in English. What they leave alone is not thereby harmless: a person reads the text.
"""

import re
from collections.abc import Callable, Iterator

from registry.core.findings import Finding, Severity, cut, listed
from registry.core.lint import credentials, piped_code
from registry.core.lint.context import Subject

_LISTED = 20  # of each rule

_GAP = r"[\s>*]{1,20}"  # lines of prose wrap, also in quotes
_PEOPLE = rf"(?:(?:the|your|any|a|this){_GAP})?(?:end{_GAP})?(?:users?|humans?|operators?|owners?|reviewers?)\b"
_NOT = rf"\b(?:(?:do|does|must|should){_GAP}not|don['’]?t|never)"
_THIS = rf"(?:this|these|that|it|them|any{_GAP}of{_GAP}(?:this|it|these))"
_MORE = rf"(?:{_GAP}[\w-]{{1,30}}){{0,3}}?"
# Both ask for a first letter before anything else, which makes the search several times as fast.
_OVERRIDE = re.compile(
    r"\b(?=[dfios])(?<!\bnot )(?<!\bnever )(?<!n't )(?<!n’t )"
    rf"(?:ignore|disregard|forget|override|(?:do{_GAP}not|don['’]t|stop){_GAP}(?:follow|obey)(?:ing)?){_GAP}"
    rf"(?:(?:all|any|every|of|the|your|my|these|those|other){_GAP}){{0,4}}"
    rf"(?:previous|prior|earlier|above|preceding|foregoing|system){_GAP}(?:[\w-]{{1,30}}{_GAP}){{0,2}}?"
    r"(?:instructions?|prompts?|rules|guidelines|directives?|directions|guardrails|restrictions)\b",
    re.IGNORECASE,
)
_CONCEAL = re.compile(
    rf"\b(?=[cdhkmnsw])(?:{_NOT}{_GAP}(?:tell|inform|notify|alert|warn){_GAP}{_PEOPLE}"
    rf"(?:{_GAP}(?:about|of){_GAP}{_THIS}\b|(?=\s{{0,5}}(?:[.!;]|$)))"
    rf"|{_NOT}{_GAP}(?:mention|show|reveal|disclose|report|display|explain){_GAP}{_THIS}{_MORE}{_GAP}to{_GAP}{_PEOPLE}"
    rf"|(?P<way>\bwithout{_GAP}(?:telling|informing|notifying|alerting|warning){_GAP}{_PEOPLE}"
    rf"|\bwithout{_GAP}{_PEOPLE}(?:['’]s?)?{_GAP}(?:knowledge|knowing|noticing)\b"
    rf"|\b(?:hide|conceal|keep){_GAP}{_THIS}{_MORE}{_GAP}from{_GAP}{_PEOPLE}"
    rf"|\b(?:secretly|covertly){_GAP}(?:send|upload|post|copy|forward|append|email|transmit|exfiltrate)\b))",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSED = re.compile(rf"{_NOT}\b|\b(?:cannot|can't|may{_GAP}not|nothing|nobody|no{_GAP}one)\b", re.IGNORECASE)
_SENTENCE_CHARS = 160
_SENTENCE_END = re.compile(r"[.!?:;]\s|\n\s*\n|\n\s*[-*#]")

_UNREADABLE = re.compile(
    r"(?<![\w+/=-])[\w+/-]{40,}+(?:\r?\n[ \t>]{0,20}[\w+/-]{40,}+)*+(?:\r?\n[ \t>]{0,20}[\w+/-]{1,100}=)?"
    r"|(?:\\x[0-9A-Fa-f]{2}){40,}+",
    re.ASCII,
)
_UNREADABLE_CHARS = 200  # digests and ids in use are shorter
_SPACE = re.compile(r"[\s>]+")


def code_unread(subject: Subject) -> Iterator[Finding]:
    return _in_texts(
        subject,
        _unread,
        "code-unread",
        "“{}, and nobody has read that.",
        "Put the script into the skill, where it is reviewed, or name a package with its version.",
    )


def _unread(text: str) -> Iterator[tuple[int, str]]:
    for run in piped_code.find(text):
        yield run.offset, f"{cut(run.text)}” runs {'what it decodes' if run.decoded else 'what it downloads'}"


def orders_override(subject: Subject) -> Iterator[Finding]:
    return _in_texts(
        subject,
        lambda text: ((match.start(), cut(match[0])) for match in _OVERRIDE.finditer(text)),
        "orders-override",
        "“{}” tells an agent to set aside what it was told before.",
        "Say what to do in this skill's own task, and leave other instructions alone.",
    )


def orders_conceal(subject: Subject) -> Iterator[Finding]:
    return _in_texts(
        subject,
        _concealing,
        "orders-conceal",
        "“{}” tells an agent to keep something from the people it works for.",
        "Take it out, or say what people are told and when.",
    )


def _concealing(text: str) -> Iterator[tuple[int, str]]:
    for match in _CONCEAL.finditer(text):
        if match["way"] is None or not _refused(text, match.start()):
            yield match.start(), cut(match[0])


def _refused(text: str, at: int) -> bool:
    """Whether the sentence forbids what follows: “never send it without telling the user”."""
    before = text[max(0, at - _SENTENCE_CHARS) : at]
    return bool(_REFUSED.search(_SENTENCE_END.split(before)[-1]))


def text_opaque(subject: Subject) -> Iterator[Finding]:
    return _in_texts(
        subject,
        _opaque,
        "text-opaque",
        "There are {} characters here that no person can read, and an agent may decode and follow them.",
        "Say it in words, or put the file itself into `assets/`.",
        only=".md",
    )


def _opaque(text: str) -> Iterator[tuple[int, str]]:
    for match in _UNREADABLE.finditer(text):
        run = _SPACE.sub("", match[0])
        if len(run) >= _UNREADABLE_CHARS and _is_encoded(run):
            yield match.start(), f"{len(run):,}"


def _is_encoded(run: str) -> bool:
    """Digits and letters in the shares that hex or base64 have; lines, words and paths do not."""
    fewest = len(run) // 20
    digits, small = sum(map(str.isdigit, run)), sum(map(str.islower, run))
    large = sum(map(str.isupper, run))
    letters = set(run) - set("0123456789")
    if letters <= set("abcdefABCDEFx\\"):
        return min(digits, small + large) > fewest and len(set(run)) >= 8
    return min(digits, small, large) > fewest and len(set(run)) >= 24


def credentials_there(subject: Subject) -> Iterator[Finding]:
    return _in_texts(
        subject,
        lambda text: ((found.offset, f"{found.start}…” looks like {found.what}") for found in credentials.find(text)),
        "credential",
        "“{}; whoever loads the skill can use it.",
        "Take it out, have it revoked, and name an environment variable in its place.",
    )


def _in_texts(
    subject: Subject,
    find: Callable[[str], Iterator[tuple[int, str]]],
    rule: str,
    message: str,
    fix: str,
    *,
    only: str = "",
) -> Iterator[Finding]:
    """A finding for each place that `find` names with what to say of it, as many as are worth listing."""

    def found() -> Iterator[Finding]:
        for path, text in subject.texts.items():
            at = line = 0
            for start, said in find(text) if path.lower().endswith(only) else ():
                line += text.count("\n", at, start)
                at = start
                yield Finding(rule, Severity.WARNING, path, line + 1, message.format(said), fix)

    return listed(found(), _LISTED)


RULES = {
    "code-unread": "Nothing is run that nobody has read.",
    "orders-override": "The text does not tell agents to set other instructions aside.",
    "orders-conceal": "The text does not tell agents to keep anything from people.",
    "text-opaque": "Instructions are written in words, not encoded.",
    "credential": "No file holds a credential.",
}

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    code_unread, orders_override, orders_conceal, text_opaque, credentials_there,
)  # fmt: skip
