"""Scans as pages and the API show them: each finding with its suppression, and whether it blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Q
from django.utils import timezone

from registry.core import roles
from registry.core.errors import NotFound
from registry.core.findings import Finding, Severity
from registry.core.scan.report import ScanReport
from registry.models import Project, Scan, Suppression, Version
from registry.models.skills import VersionQuerySet
from registry.services.permissions import Actor, require
from registry.services.scans import deep_pass, scans, suppressions

_RECENTLY = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding of a scan. `suppression` is the active one, if any."""

    finding: Finding
    suppression: Suppression | None = None
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class ScanDetails:
    """A scan with its findings. `deep` is true once the current scanner finished the deep pass."""

    digest: str
    skill: str
    status: str
    scanner: str
    scanned_at: datetime | None
    deep: bool
    unread: tuple[str, ...]
    findings: tuple[JudgedFinding, ...]

    @property
    def blocked(self) -> bool:
        return any(each.blocks for each in self.findings)


def details(project: Project, digest: str) -> ScanDetails | None:
    """Return the scan of a bundle, or None if it was not scanned yet."""
    scan = scans.find(project, digest)
    if scan is None:
        return None
    findings = scans.findings_of(scan)
    judged = tuple(_judged(project, digest, findings))
    return ScanDetails(
        digest, scan.skill, scan.status, scan.scanner, scan.scanned_at, scan.deep_scanner == deep_pass.version(),
        tuple(scan.unread), judged,
    )  # fmt: skip


def require_details(project: Project, digest: str, *, by: Actor) -> ScanDetails:
    require(by, roles.READ, project)
    found = details(project, digest) if "\0" not in digest else None
    if found is None:
        raise NotFound("The project has no scan of this digest.")
    return found


def of_report(digest: str, skill: str, report: ScanReport) -> ScanDetails:
    """Return the fast pass of a bundle that is not stored, such as a built-in skill."""
    findings = tuple(map(JudgedFinding, report.findings))
    return ScanDetails(digest, skill, report.status, report.scanner, None, False, report.unread, findings)


def _judged(project: Project, digest: str, findings: tuple[Finding, ...]) -> Iterable[JudgedFinding]:
    active = suppressions.active_by_key(project, digest) if findings else {}
    blocking = {suppressions.key(each) for each in scans.blocking(project, digest, findings)}
    for finding in findings:
        key = suppressions.key(finding)
        yield JudgedFinding(finding, active.get(key), key in blocking)


def quarantined(project: Project, *, by: Actor) -> VersionQuerySet:
    """Return the versions in quarantine, newest first."""
    require(by, roles.READ, project)
    rows = Version.objects.filter(skill__project=project, quarantined_at__isnull=False, yanked_at=None)
    return rows.select_related("skill", "quarantined_by").order_by("-quarantined_at", "-pk")


@dataclass(frozen=True, slots=True)
class OpenFindings:
    """A scan with the numbers of its findings that nobody suppressed."""

    scan: Scan
    errors: int
    warnings: int


def alarms(project: Project, *, by: Actor, most: int) -> list[OpenFindings]:
    """Return the scans with open errors or warnings of bundles that agents get now, errors first."""
    require(by, roles.READ, project)
    current = Version.objects.available().filter(skill__project=project, skill__overrides=True)
    served = current.filter(pk__in=project.skills.values("current")).values("scan")
    alarming = Scan.objects.filter(Q(errors__gt=0) | Q(warnings__gt=0), pk__in=served)
    found = open_findings(project, alarming.order_by("-errors", "-warnings", "skill").iterator())
    return list(islice((each for each in found if each.errors or each.warnings), most))


def refused(project: Project, *, by: Actor, most: int) -> list[OpenFindings]:
    """Return the bundles whose findings blocked them in the last 30 days, newest first."""
    require(by, roles.WRITE, project)
    rows = Scan.objects.filter(project=project, refused_at__gte=timezone.now() - _RECENTLY)
    unpublished = rows.exclude(versions__isnull=False).select_related("refused_by").order_by("-refused_at")
    return list(open_findings(project, unpublished[:most]))


def open_findings(project: Project, found: Iterable[Scan]) -> Iterator[OpenFindings]:
    active = Suppression.objects.active(timezone.now()).filter(project=project)
    suppressed = set(active.values_list("digest", "rule", "file", "line"))
    for scan in found:
        findings = scans.findings_of(scan)
        severities = [each.severity for each in findings if (scan.digest, *suppressions.key(each)) not in suppressed]
        yield OpenFindings(scan, severities.count(Severity.ERROR), severities.count(Severity.WARNING))
