"""Findings: problems in a skill, with their place, severity and fix."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypedDict


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Category(StrEnum):
    """The kind of a finding: the file format, the quality of the text, or harmful content."""

    FORMAT = "format"
    QUALITY = "quality"
    SECURITY = "security"


SHOWN_CHARS = 120  # of quoted text in a message
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


class FindingShape(TypedDict):
    rule: str
    severity: Severity
    category: Category
    file: str
    line: int | None
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a skill. It stands for `more` other findings of the rule that are not listed."""

    rule: str
    severity: Severity
    file: str
    line: int | None
    message: str
    fix: str
    category: Category = Category.FORMAT
    more: int = 0

    @property
    def place(self) -> str:
        """The file and the line, for messages."""
        return f"{self.file}, line {self.line}" if self.line else self.file

    def as_json(self) -> FindingShape:
        return {
            "rule": self.rule,
            "severity": self.severity,
            "category": self.category,
            "file": self.file,
            "line": self.line,
            "message": self.message,
            "fix": self.fix,
        }


def in_reading_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort by severity, then by file and line."""
    return tuple(sorted(findings, key=lambda f: (_ORDER[f.severity], f.file, f.line or 0, f.rule)))


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(f for f in findings if f.severity is Severity.ERROR)


def shorten(text: str) -> str:
    """Return the text on one line and short enough to be quoted."""
    plain = " ".join(text.split())
    return plain if len(plain) <= SHOWN_CHARS else f"{plain[:SHOWN_CHARS]}…"


def limit_per_rule(findings: Iterable[Finding], limit: int) -> Iterator[Finding]:
    """Yield at most `limit` findings of each rule. The message of the last one says how many more there are."""
    last_of_rule: dict[str, Finding] = {}
    counts: dict[str, int] = {}
    for each in findings:
        counts[each.rule] = count = counts.get(each.rule, 0) + 1
        if count < limit:
            yield each
        elif count == limit:
            last_of_rule[each.rule] = each
    for rule, last in last_of_rule.items():
        more = counts[rule] - limit
        message = f"{last.message} {more:,} more like this are not shown."
        yield replace(last, message=message, more=more) if more else last
