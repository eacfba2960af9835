"""The result of a security scan."""

from dataclasses import dataclass
from enum import StrEnum

from registry.core.findings import Finding, Severity

SCANNER = "skillsite/2"  # increase the number when a rule changes, so that stored reports can be renewed
ALARMS = (Severity.ERROR, Severity.WARNING)


class ScanStatus(StrEnum):
    """The outcome of a scan. No outcome means that a skill is safe."""

    FINDINGS = "findings"
    NONE = "none"
    PARTIAL = "partial"  # some content was too large or could not be read; there may be findings, too
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ScanReport:
    """`unread` lists the files that were not or not completely scanned."""

    status: ScanStatus
    findings: tuple[Finding, ...] = ()
    scanner: str = SCANNER
    unread: tuple[str, ...] = ()

    @property
    def alarms(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity in ALARMS)
