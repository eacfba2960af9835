"""Parts of a skill that say when not to use it, and the other skills that they name."""

import re
from dataclasses import dataclass

from registry.core.routing.words import STOP_WORDS

_NAME = r"[`*_\"'“”‘’\[]*([a-z0-9]+(?:[-_][a-z0-9]+)*)[`*_\"'“”‘’\]]*"
# The start of an order: “…, do not use for X” is about this skill, “users do not use X” is not.
_START = r"(?:^\W*|[;:,.(]\s*|\s[-–—]+\s|\b(?:but|and|so|please|then|also)\s+)"
_NEGATIVE = re.compile(
    rf"{_START}(?:"
    r"(?:do not|don['’]?t|never)\s+(?:[a-z]+\s+){0,3}?(?:use|trigger|invoke|activate|apply|call|load)\b"
    r"|(?:skip|avoid) (?:when|if|for|using|it|this)\b|skip:|not (?:for|intended|suitable|meant|when)\b"
    r"|when not to use\b|out of scope\b|prefer (?!over\b)[^.;]{1,60}?\b(?:for|over|when)\b"
    r"|(?:does not|doesn['’]?t) (?:apply|cover|handle|include|replace)\b)"
    r"|\b(?:skill|it|this) (?:does not|doesn['’]?t) (?:apply|cover|handle|include|replace)\b"
    r"|\b(?:should|must|need) not be (?:used|triggered|invoked|activated|applied|loaded)\b"
    r"|\bnot (?:for|intended for|suitable for|meant for|to be used)\b|\bnot to use (?:this|it)\b"
    r"|\b(?:is|are) out of scope\b|\bout of scope:|\b(?:anti-?triggers?|exclusions?)\s*:",
    re.IGNORECASE,
)
# “…, not Y” leaves out Y alone. “not working” and “not only” are no exclusions.
_NOT_THAT = re.compile(
    r"[,;]\s+(?:and |but )?not\s+(?!only\b|just\b|sure\b|yet\b|enough\b|[a-z]+(?:ing|ed)\b)[^,;.:()]{2,80}(?=[,;.)]|$)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]{0,300}\"|“[^”]{0,300}”|(?<!\w)['‘][^'‘’]{0,120}['’](?!\w)")
_KEPT_WORDS = 3  # fewer words before a negative part are left out with it
# Labels that end a negative part inside one paragraph: “… DO NOT USE FOR: a, b. WHEN: c, d”.
_LABEL = re.compile(
    r"(?<![A-Za-z])(?<!NOT )(?=(?:USE (?:FOR|WHEN|THIS)|(?<!USE )WHEN|TRIGGERS?(?: ON| WHEN)?|Triggers?|KEYWORDS?"
    r"|Use (?:when|for|this))\b[^.]{0,24}?:)"
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"'”’)]*\s+(?=[^a-z])|\n+")
_REFERENCE = re.compile(
    r"(?:\b(?:use|see|try|load|invoke|prefer|consider|belongs to|(?:go|defer|refer|route|switch|hand off) to)\b|→|->)"
    rf"\s+(?:the\s+|instead\s+|also\s+|skill\s+)*{_NAME}(?:\s*(?:,|or|and|/|\+)\s*{_NAME})?",
    re.IGNORECASE,
)
_SEE_INSTEAD = re.compile(
    r"^\W*(?:for|if|when)\b(?P<what>.+?)[,:–—-]\s*(?:please\s+)?"
    r"(?:use|see|try|load|invoke|prefer|go to|refer to|consider)\s+"
    rf"(?:the\s+)?{_NAME}(?:\s+(?:skill|instead))*\W*$",
    re.IGNORECASE,
)
_INSTEAD = re.compile(rf"\b(?:use|see|try|prefer)\s+(?:the\s+)?{_NAME}\s+(?:skill\s+)?instead\b", re.IGNORECASE)
_EXCLUDING_HEADING = re.compile(
    r"\bnot (?:to|for|use|in scope|covered)\b|\bnon[- ]goals?\b|\bout[- ]of[- ]scope\b|\bdon['’]?t use\b"
    r"|\banti-?triggers?\b|\brelated (?:skills?|tools?|resources?|work)\b|\bsee also\b"
    r"|\bwhen to use (?:other|another)|\binstead\b|\bboundar(?:y|ies)\b",
    re.IGNORECASE,
)
# In these two, repetitions are bounded or on one line: a run of spaces or lines is read once, not again at each place.
_PARENTHESES = re.compile(r"(?<!\s)\s*\((?=not\s|[^()]{0,300}?(?:\b(?:use|see)\s|→\s))([^()]*)\)", re.IGNORECASE)
_LISTED = re.compile(
    r"^[ \t]*(?:[-*+]|\d+\.|\|)[ \t]*(?:\[?[`*_]+\[?|\[)([a-z0-9]+(?:-[a-z0-9]+)*)"
    r"(?:\]\([^)]{0,500}\))?[`*_\]]*(?:\([^)]{0,500}\))?\s*(?:[:|–—]|-|→|\()\s*(.+)$",
    re.MULTILINE,
)
# Each match of a pattern contains one of its hints. Most lines contain none, and looking for a hint is fast.
_NEGATIVE_HINTS = ("not", "don", "never", "skip", "avoid", "scope", "trigger", "exclusion", "prefer")
_SEE_INSTEAD_HINTS = ("use", "see", "try", "load", "invoke", "prefer", "go to", "refer to", "consider")
_WHAT_CHARS = 300


@dataclass(frozen=True, slots=True)
class Mention:
    """A description of one skill in another. `name` may be a word that names no skill; the index knows."""

    name: str
    text: str


def split(description: str) -> tuple[str, list[Mention]]:
    """Return a description without its negative parts, and the skills that these parts name."""
    kept: list[str] = []
    mentions: list[Mention] = []
    for part in (part for line in _SENTENCE.split(description) for part in _LABEL.split(line)):
        positive, negative = _divided(part)
        mentions += _mentions(negative)
        kept.append(_NOT_THAT.sub("", _PARENTHESES.sub(" ", positive)))
        for inside in _PARENTHESES.finditer(positive):
            before = re.split(r"[,;:.]", positive[max(0, inside.start() - _WHAT_CHARS) : inside.start()])[-1]
            mentions += _mentions(f"{before} {inside.group(1)}")
    text = " ".join(part for part in kept if part).strip()
    return (text or description), mentions


def _divided(part: str) -> tuple[str, str]:
    """Return the start of a sentence that says when to use a skill, and the rest that says when not to."""
    if not _is_negative(part):
        return part, ""
    # Quoted words are somebody’s question, and an aside in parentheses ends with them: neither negates the sentence.
    plain = _PARENTHESES.sub(_blank, _QUOTED.sub(_blank, part))
    found = _NEGATIVE.search(plain)
    if found is None:
        return ("", part) if _SEE_INSTEAD.search(part) or _INSTEAD.search(part) else (part, "")
    if len(plain[: found.start()].split()) < _KEPT_WORDS:
        return "", part
    return part[: found.start()], part[found.start() :]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def is_excluding_heading(heading: str) -> bool:
    return bool(_EXCLUDING_HEADING.search(heading))


def split_lines(text: str) -> tuple[str, list[Mention]]:
    """Return the text of a section without the lines that say when not to use the skill, and the skills it mentions.

    These are skills that the section lists with a description, or that such a line names as an alternative.
    """
    mentions = [Mention(name, what[:_WHAT_CHARS]) for name, what in _LISTED.findall(text)]
    kept: list[str] = []
    for line in text.split("\n"):
        if line and _is_negative(line):
            mentions += _mentions(line)
        else:
            kept.append(line)
    return "\n".join(kept), mentions


def _is_negative(part: str) -> bool:
    lower = part.lower()
    return bool(
        (any(hint in lower for hint in _NEGATIVE_HINTS) and _NEGATIVE.search(part))
        or (any(hint in lower for hint in _SEE_INSTEAD_HINTS) and _SEE_INSTEAD.search(part))
        or ("instead" in lower and _INSTEAD.search(part))
    )


def _mentions(part: str) -> list[Mention]:
    found: list[Mention] = []
    start = 0
    for reference in _REFERENCE.finditer(part):
        what = part[start : reference.start()].strip(" ,;:()–—-")[-_WHAT_CHARS:]
        found += [
            Mention(name.lower(), what)
            for name in reference.groups()
            if name and what and name.lower() not in STOP_WORDS
        ]
        start = reference.end()
    return found
