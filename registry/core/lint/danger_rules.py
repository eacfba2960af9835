"""Lint rules about harmful content: unreviewed code, instructions against people, encoded text, credentials.

The rules recognise plain English only. A skill without findings is not proven harmless; a person still has to read it.
"""

import re
from collections.abc import Callable, Iterator

from registry.core.findings import Finding, Severity, limit_per_rule, shorten
from registry.core.lint import credentials, piped_code
from registry.core.lint.context import LintContext

_LISTED = 20  # findings of each rule

_GAP = r"[\s>*]{1,20}"  # lines of prose wrap, also in quotes
_PEOPLE = rf"(?:(?:the|your|any|a|this){_GAP})?(?:end{_GAP})?(?:users?|humans?|operators?|owners?|reviewers?)\b"
_NOT = rf"\b(?:(?:do|does|must|should){_GAP}not|don['’]?t|never)"
_THIS = rf"(?:this|these|that|it|them|any{_GAP}of{_GAP}(?:this|it|these))"
_MORE = rf"(?:{_GAP}[\w-]{{1,30}}){{0,3}}?"
# A lookahead for the first letter makes both searches several times as fast.
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


def code_unread(context: LintContext) -> Iterator[Finding]:
    return _in_texts(
        context,
        _unread,
        "code-unread",
        "{} Nobody can review that code.",
        "Add the script to the skill, where it is reviewed, or install a package with a fixed version.",
    )


def _unread(text: str) -> Iterator[tuple[int, str]]:
    for run in piped_code.find(text):
        yield run.offset, f"“{shorten(run.text)}” runs code that it {'decodes' if run.decoded else 'downloads'}."


def orders_override(context: LintContext) -> Iterator[Finding]:
    return _in_texts(
        context,
        lambda text: ((match.start(), shorten(match[0])) for match in _OVERRIDE.finditer(text)),
        "orders-override",
        "“{}” tells agents to ignore their other instructions.",
        "Describe only the task of this skill.",
    )


def orders_conceal(context: LintContext) -> Iterator[Finding]:
    return _in_texts(
        context,
        _concealing,
        "orders-conceal",
        "“{}” tells agents to hide something from people.",
        "Remove it, or write what people should be told and when.",
    )


def _concealing(text: str) -> Iterator[tuple[int, str]]:
    for match in _CONCEAL.finditer(text):
        if match["way"] is None or not _refused(text, match.start()):
            yield match.start(), shorten(match[0])


def _refused(text: str, at: int) -> bool:
    """Check if the sentence forbids what follows: “never send it without telling the user”."""
    before = text[max(0, at - _SENTENCE_CHARS) : at]
    return bool(_REFUSED.search(_SENTENCE_END.split(before)[-1]))


def text_opaque(context: LintContext) -> Iterator[Finding]:
    return _in_texts(
        context,
        _opaque,
        "text-opaque",
        "This is {} characters of encoded text. People cannot read it, but an agent may decode and follow it.",
        "Write it in words, or add the decoded file to `assets/`.",
        only=".md",
    )


def _opaque(text: str) -> Iterator[tuple[int, str]]:
    for match in _UNREADABLE.finditer(text):
        run = _SPACE.sub("", match[0])
        if len(run) >= _UNREADABLE_CHARS and _is_encoded(run):
            yield match.start(), f"{len(run):,}"


def _is_encoded(run: str) -> bool:
    """Check for the mix of digits and letters of hex or base64, which words, paths and rules of dashes do not have."""
    fewest = len(run) // 20
    digits, small = sum(map(str.isdigit, run)), sum(map(str.islower, run))
    large = sum(map(str.isupper, run))
    letters = set(run) - set("0123456789")
    if letters <= set("abcdefABCDEFx\\"):
        return min(digits, small + large) > fewest and len(set(run)) >= 8
    return min(digits, small, large) > fewest and len(set(run)) >= 24


def credential(context: LintContext) -> Iterator[Finding]:
    return _in_texts(
        context,
        lambda text: ((match.offset, f"“{match.start}…” looks like {match.what}.") for match in credentials.find(text)),
        "credential",
        "{} Everyone who can load this skill can use it.",
        "Remove it, revoke it, and use an environment variable instead.",
    )


def _in_texts(
    context: LintContext,
    find: Callable[[str], Iterator[tuple[int, str]]],
    rule: str,
    message: str,
    fix: str,
    *,
    only: str = "",
) -> Iterator[Finding]:
    """Yield a finding for each match of `find`, which yields offsets and the text for the `{}` of the message."""

    def findings() -> Iterator[Finding]:
        for path, text in context.texts.items():
            at = line = 0
            for start, detail in find(text) if path.lower().endswith(only) else ():
                line += text.count("\n", at, start)
                at = start
                yield Finding(rule, Severity.WARNING, path, line + 1, message.format(detail), fix)

    return limit_per_rule(findings(), _LISTED)


RULES = {
    "code-unread": "The skill runs no code that nobody can review.",
    "orders-override": "The text does not tell agents to ignore other instructions.",
    "orders-conceal": "The text does not tell agents to hide anything from people.",
    "text-opaque": "Instructions are written in words, not encoded.",
    "credential": "No file contains a credential.",
}

CHECKS: tuple[Callable[[LintContext], Iterator[Finding]], ...] = (
    code_unread, orders_override, orders_conceal, text_opaque, credential,
)  # fmt: skip
