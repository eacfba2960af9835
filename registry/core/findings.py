"""What a rule says about a skill: where, how bad, and how to put it right."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


SHOWN_CHARS = 120  # of somebody's text within a message
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    severity: Severity
    file: str
    line: int | None
    message: str
    fix: str

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def in_reading_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors, warnings, hints; within one severity by file and line."""
    return tuple(sorted(findings, key=lambda f: (_ORDER[f.severity], f.file, f.line or 0, f.rule)))


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(f for f in findings if f.severity is Severity.ERROR)


def cut(text: str) -> str:
    """On one line, and short enough to be quoted."""
    plain = " ".join(text.split())
    return plain if len(plain) <= SHOWN_CHARS else f"{plain[:SHOWN_CHARS]}…"


def listed(findings: Iterable[Finding], most: int) -> Iterator[Finding]:
    """So many of each rule; the last of them says how many more there are."""
    kept: dict[str, Finding] = {}
    counts: dict[str, int] = {}
    for each in findings:
        counts[each.rule] = count = counts.get(each.rule, 0) + 1
        if count < most:
            yield each
        elif count == most:
            kept[each.rule] = each
    for rule, last in kept.items():
        more = counts[rule] - most
        yield replace(last, message=f"{last.message} {more:,} more like it are not listed.") if more else last
