"""The deep pass of the security scan. The worker runs it; lint runs the fast part of the same rules."""

from collections.abc import Collection

from registry.core.bundle import Bundle
from registry.core.limits import DEFAULT, Limits
from registry.core.scan.report import ScanReport, ScanStatus


def scan(bundle: Bundle, *, known_names: Collection[str] = (), limits: Limits = DEFAULT) -> ScanReport:
    """Return the security findings of a skill. `known_names` are other skills that its name may imitate."""
    return ScanReport(ScanStatus.NONE)
