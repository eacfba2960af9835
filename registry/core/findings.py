"""What a rule says about a skill: where, how bad, and how to put it right."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


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
