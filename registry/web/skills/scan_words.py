"""The result of a security scan in words. No result says that a skill is safe."""

from registry.core.findings import Finding, Severity
from registry.core.scan.report import ScanStatus
from registry.services.scans.scan_queries import ScanDetails
from registry.web.humanize import counted


def findings_in_words(findings: tuple[Finding, ...]) -> str:
    nouns = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "hint"}
    counts = [(sum(one.severity is severity for one in findings), noun) for severity, noun in nouns.items()]
    return ", ".join(counted(amount, noun) for amount, noun in counts if amount) or "No findings"


def scan_in_words(scan: ScanDetails) -> tuple[str, str]:
    """Return the findings, and how far the scan went."""
    open_findings: tuple[Finding, ...] = tuple(each.finding for each in scan.findings if each.suppression is None)
    suppressed = len(scan.findings) - len(open_findings)
    found = findings_in_words(open_findings)
    if suppressed:
        found = f"{found}, {counted(suppressed, 'suppressed finding')}"
    if scan.status == ScanStatus.FAILED:
        return found, "the deep scan failed, so there may be more"
    if scan.status == ScanStatus.PARTIAL:
        unread = counted(len(scan.unread), "file")
        return found, f"incomplete: {unread} too large or not text" if scan.unread else "the scan is incomplete"
    return found, "deep scan finished" if scan.deep else "the deep scan has not run yet"
