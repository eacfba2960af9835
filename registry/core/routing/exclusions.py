"""Parts of a skill that say when not to use it, and the other skills that they name."""

import re
from dataclasses import dataclass

from registry.core.routing.words import STOP_WORDS

_NAME = r"[`*_\"'“”‘’\[]*([a-z0-9]+(?:[-_][a-z0-9]+)*)[`*_\"'“”‘’\]]*"
_NEGATIVE = re.compile(
    r"\b(?:do(?:es)? not|don['’]?t|never|not)\b[^.;:]{0,30}?\b(?:use|trigger|invoke|activate|apply|call|load)\b"
    r"|^\W*not (?:for|intended|suitable|meant|when)\b|\bskip (?:when|if|for)\b|\bavoid (?:when|if|for|using)\b"
    r"|\bout of scope\b|\bnot (?:for|intended for|suitable for|meant for)\b|\bnot to use\b"
    r"|\b(?:anti-?triggers?|exclusions?)\s*:"
    r"|\bprefer\b[^.;]{0,60}\b(?:for|over|when)\b",
    re.IGNORECASE,
)
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
_PARENTHESES = re.compile(r"\s*\(([^()]*\b(?:use|see|→)\s[^()]*)\)", re.IGNORECASE)
_EXCLUDING_HEADING = re.compile(
    r"\bnot (?:to|for|use|in scope|covered)\b|\bnon[- ]goals?\b|\bout[- ]of[- ]scope\b|\bdon['’]?t use\b"
    r"|\banti-?triggers?\b|\brelated (?:skills?|tools?|resources?|work)\b|\bsee also\b"
    r"|\bwhen to use (?:other|another)|\binstead\b|\bboundar(?:y|ies)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^\s*(?:[-*+]|\d+\.|\|)\s*(?:\[?[`*_]+\[?|\[)([a-z0-9]+(?:-[a-z0-9]+)*)(?:\]\([^)]*\))?[`*_\]]*(?:\([^)]*\))?"
    r"\s*(?:[:|–—]|-|→|\()\s*(.+)$",
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
        if _is_negative(part):
            mentions += _mentions(part)
        else:
            kept.append(_PARENTHESES.sub(" ", part))
            for inside in _PARENTHESES.finditer(part):
                before = re.split(r"[,;:.]", part[max(0, inside.start() - _WHAT_CHARS) : inside.start()])[-1]
                mentions += _mentions(f"{before} {inside.group(1)}")
    text = " ".join(kept).strip()
    return (text or description), mentions


def is_excluding_heading(heading: str) -> bool:
    return bool(_EXCLUDING_HEADING.search(heading))


def without_lines(text: str) -> str:
    """Return the text of a section without the lines that say when not to use the skill."""
    return "\n".join(line for line in text.split("\n") if not (line and _is_negative(line)))


def mentions_in_lines(text: str) -> list[Mention]:
    """Return the other skills that a section lists with a description, or names as an alternative."""
    found = [Mention(name, what[:_WHAT_CHARS]) for name, what in _LISTED.findall(text)]
    for line in text.split("\n"):
        if line and _is_negative(line):
            found += _mentions(line)
    return found


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
