"""Findings about one YAML file, with the line of the key."""

from collections.abc import Iterable
from dataclasses import replace

from registry.core.findings import Finding, Severity, in_reading_order
from registry.core.format.strict_yaml import Path
from registry.core.workflows.documents import Document

MOST = 50


class Problems:
    """Collects findings while a file is read, so that its author sees all of them at once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings: list[Finding] = []

    def add(self, rule: str, path: Path, message: str, fix: str, severity: Severity = Severity.ERROR) -> None:
        line = self.document.line(path)
        self.findings.append(Finding(rule, severity, self.document.file, line, message, fix))

    @property
    def fatal(self) -> bool:
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def listed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings in reading order. The last one tells how many more there are."""
    found = in_reading_order(dict.fromkeys(findings))
    if len(found) <= MOST:
        return found
    last, more = found[MOST - 1], len(found) - MOST
    message = f"{last.message} {more:,} more problems are not shown."
    return (*found[: MOST - 1], replace(last, message=message, more=more))
