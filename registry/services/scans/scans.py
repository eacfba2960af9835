"""Security scans of bundles: the fast pass of a request, stored scans, and the findings that block a version.

A scan belongs to a project and a digest. `record` and `require_allowed` run inside the transaction that stores a
version, so no way to publish can leave them out.
"""

from collections.abc import Iterable

from django.conf import settings
from django.utils import timezone

from registry.core.bundle import Bundle
from registry.core.errors import BlockedByScan
from registry.core.findings import Category, Finding, Severity, in_reading_order
from registry.core.format.skill_md import SkillMd
from registry.core.lint import rules
from registry.core.scan.report import ScanReport, ScanStatus
from registry.lib.lru import LruCache
from registry.models import Project, Scan
from registry.models.accounts import ERROR, NOTHING, WARNING
from registry.services.permissions import Actor
from registry.services.scans import suppressions
from registry.services.scans.suppressions import Key, key

_NAMED_FINDINGS = 3  # in the message of a refusal
_REFUSED_KEPT = 100  # for each project
_UNREAD_RULES = ("text-unread", "text-unscanned")  # files that only the deep pass reads, if at all
_BLOCKED: dict[str, tuple[Severity, ...]] = {
    NOTHING: (),
    ERROR: (Severity.ERROR,),
    WARNING: (Severity.ERROR, Severity.WARNING),
}

# Lint runs before the transaction that stores a version. Its security findings are kept for the transaction.
_reports: LruCache[str, ScanReport] = LruCache(256)


def remember(bundle: Bundle, findings: Iterable[Finding]) -> ScanReport:
    """Keep the security findings of a lint run as the fast pass of a bundle."""
    report = fast_report(findings)
    _reports.put(bundle.digest, report)
    return report


def fast(bundle: Bundle, parsed: SkillMd) -> ScanReport:
    """Return the fast pass of a bundle."""
    known = _reports.get(bundle.digest)
    return known or remember(bundle, rules.lint(parsed, bundle, authoring=False, limits=settings.LIMITS))


def fast_report(findings: Iterable[Finding]) -> ScanReport:
    security = tuple(finding for finding in findings if finding.category is Category.SECURITY)
    unread = tuple(finding.file for finding in security if finding.rule in _UNREAD_RULES)
    status = ScanStatus.PARTIAL if unread else ScanStatus.FINDINGS if security else ScanStatus.NONE
    return ScanReport(status, security, unread=unread)


def merged(fast: ScanReport, deep: ScanReport) -> ScanReport:
    """Return both passes as one report. Of two findings at one place, the one of the deep pass stays.

    The deep pass reads all files of the fast one and more, so it decides what was not read.
    """
    kept = (finding for finding in fast.findings if finding.rule not in _UNREAD_RULES)
    findings = in_reading_order({key(finding): finding for finding in (*kept, *deep.findings)}.values())
    status = deep.status
    if status in (ScanStatus.NONE, ScanStatus.FINDINGS):
        status = ScanStatus.FINDINGS if findings else ScanStatus.NONE
    return ScanReport(status, findings, deep.scanner, deep.unread)


def columns(report: ScanReport) -> dict[str, object]:
    """Return the columns of a scan that hold its result."""
    severities = [finding.severity for finding in report.findings]
    return {
        "status": report.status,
        "findings": [_storable(finding) for finding in report.findings],
        "unread": list(report.unread),
        "errors": severities.count(Severity.ERROR),
        "warnings": severities.count(Severity.WARNING),
        "scanner": report.scanner,
    }


def _storable(finding: Finding) -> dict[str, object]:
    """Replace NUL characters, which PostgreSQL cannot store in JSON."""
    values = {**finding.as_json(), "more": finding.more}
    return {name: value.replace("\0", "\ufffd") if isinstance(value, str) else value for name, value in values.items()}


def findings_of(scan: Scan) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            each["rule"], Severity(each["severity"]), each["file"], each["line"], each["message"], each["fix"],
            Category(each["category"]), each.get("more", 0),
        )
        for each in scan.findings
    )  # fmt: skip


def find(project: Project, digest: str) -> Scan | None:
    """Return the scan of a bundle, or None if it was not scanned yet."""
    return Scan.objects.filter(project=project, digest=digest).exclude(scanner="").first()


def record(project: Project, name: str, digest: str, report: ScanReport) -> Scan:
    """Return the scan of a bundle whose files are stored. Call inside an audit change.

    The worker runs the deep pass of a new scan.
    """
    scan = Scan.objects.filter(project=project, digest=digest).first()
    if scan is None:
        scan = Scan(project=project, digest=digest, skill=name, stored=True, **columns(report))
        scan.save(force_insert=True)
    elif not scan.stored:
        scan.stored = True
        scan.save(update_fields=["stored"])
    return scan


def require_allowed(scan: Scan, report: ScanReport) -> None:
    """Raise BlockedByScan if the project does not publish the findings of the fast or the stored scan."""
    findings = {key(each): each for each in (*findings_of(scan), *report.findings)}
    _refuse(scan.skill, scan.digest, blocking(scan.project, scan.digest, findings.values()))


def check(project: Project, name: str, bundle: Bundle, report: ScanReport, *, by: Actor) -> None:
    """Raise BlockedByScan before a transaction, and keep the scan, so that a reviewer can suppress its findings.

    `require_allowed` decides; this function only makes the refusal visible.
    """
    blocked = blocking(project, bundle.digest, report.findings)
    if not blocked:
        return
    refused = {"refused_at": timezone.now(), "refused_by_id": by.user_id}
    Scan.objects.update_or_create(
        project=project, digest=bundle.digest, defaults=refused,
        create_defaults={"skill": name, **columns(report), **refused},
    )  # fmt: skip
    _forget_oldest_refused(project)
    _refuse(name, bundle.digest, blocked)


def _forget_oldest_refused(project: Project) -> None:
    """Keep a limited number of refused bundles, because nothing else limits how many somebody sends."""
    rows = Scan.objects.filter(project=project, stored=False).order_by("-refused_at", "-pk")
    if oldest := list(rows.values_list("pk", flat=True)[_REFUSED_KEPT:]):
        Scan.objects.filter(pk__in=oldest, stored=False).delete()


def blocking(project: Project, digest: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that keep the project from publishing a bundle: severe enough, and not suppressed."""
    alarms = [finding for finding in findings if finding.severity in _BLOCKED[WARNING]]
    if not alarms:
        return ()
    level = Project.objects.values_list("blocking", flat=True).get(pk=project.pk)
    severe = [finding for finding in alarms if finding.severity in _BLOCKED[level]]
    suppressed: frozenset[Key] = suppressions.active_keys(project, digest) if severe else frozenset()
    return in_reading_order(finding for finding in severe if key(finding) not in suppressed)


def _refuse(name: str, digest: str, blocked: tuple[Finding, ...]) -> None:
    if not blocked:
        return
    named = " ".join(f"{each.place}: {each.message}" for each in blocked[:_NAMED_FINDINGS])
    more = f" And {len(blocked) - _NAMED_FINDINGS:,} more." if len(blocked) > _NAMED_FINDINGS else ""
    what = "a security finding blocks it" if len(blocked) == 1 else f"{len(blocked):,} security findings block it"
    refused = f"{name} cannot be published: {what}."
    next_step = "Fix this, or ask a reviewer to suppress it on the page “Security” of the project. Nothing was saved."
    raise BlockedByScan(
        f"{refused} {named}{more} {next_step}",
        summary=f"{refused} {next_step}",
        findings=blocked,
        bundle=digest,
    )
