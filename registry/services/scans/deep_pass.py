"""The deep pass of a scan: the rules of the site, and the program in SKILL_SCANNER if there is one."""

import logging
from collections.abc import Collection
from dataclasses import replace

from django.conf import settings

from registry.core.bundle import Bundle
from registry.core.findings import in_reading_order
from registry.core.limits import Limits
from registry.core.scan import scanner
from registry.core.scan.report import SCANNER, ScanReport, ScanStatus
from registry.services.scans.skill_scanner import Scanner, ScannerFailed

log = logging.getLogger(__name__)


def version() -> str:
    """Return what the deep pass consists of. A stored scan of another version is repeated."""
    return f"{SCANNER} skill-scanner" if settings.SKILL_SCANNER else SCANNER


def run(bundle: Bundle, *, known_names: Collection[str], limits: Limits) -> ScanReport:
    """Return the report. If the program fails, the report is partial and has the findings of our own rules."""
    report = replace(scanner.scan(bundle, known_names=known_names, limits=limits), scanner=version())
    if not settings.SKILL_SCANNER:
        return report
    try:
        more = Scanner(settings.SKILL_SCANNER).findings(bundle)
    except ScannerFailed as error:
        log.warning("The program in SKILL_SCANNER failed: %s", error)
        return replace(report, status=ScanStatus.PARTIAL)
    findings = in_reading_order((*report.findings, *more))
    status = report.status if report.status is ScanStatus.PARTIAL or not findings else ScanStatus.FINDINGS
    return replace(report, status=status, findings=findings)
