"""The deep pass of the security scan, run by the worker.

Each scan is a row that a worker leases. The sweep starts the task each minute while scans are due: new bundles,
versions from before scans were stored, and all bundles when the scanner has a new version. A bundle that cannot be
scanned gets the status `failed` after a few attempts, and another chance with the next version of the scanner.
"""

import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Protocol

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django_tasks import task

from registry.core.bundle import SKILL_MD, Bundle, FileEntry
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.core.notifications import events
from registry.core.scan.report import ScanReport, ScanStatus
from registry.models import ProposalRevision, Scan, Version
from registry.models.scans import is_due
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.scans import deep_pass as deep
from registry.services.scans import scans, suppressions
from registry.services.skills import quarantine
from registry.services.skills.stale_proposals import SYSTEM

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 3
_OLD_VERSIONS = 200  # that one sweep prepares for the scan
_KEEP_REFUSED = timedelta(days=30)
_REASON_CHARS = 300


class DeepPass(Protocol):
    """A function like `registry.services.scans.deep_pass.run`."""

    def __call__(self, bundle: Bundle, *, known_names: Collection[str], limits: Limits) -> ScanReport: ...


@task()
def work() -> None:
    """Run due scans, and enqueue another task if some are left."""
    if run_due():
        work.enqueue()


def wake_overdue(*, now: datetime) -> None:
    """Prepare versions that have no scan, and enqueue a task if a scan is due."""
    _adopt_old_versions()
    if Scan.objects.filter(is_due(now, deep.version())).exists():
        work.enqueue()


def clean(*, now: datetime) -> dict[str, int]:
    """Delete scans of bundles that were refused long ago and never stored, and end expired suppressions."""
    suppressions.expire(now=now, by=SYSTEM)
    old = Scan.objects.filter(stored=False, refused_at__lt=now - _KEEP_REFUSED)
    return {"scans of refused skills": old.delete()[0]}


def _adopt_old_versions() -> None:
    """Give versions from before scans were stored a scan without a result, which is then due."""
    rows = Version.objects.filter(scan=None).select_related("skill").order_by("-pk")[:_OLD_VERSIONS]
    for version in rows:
        with transaction.atomic():
            scan, _ = Scan.objects.get_or_create(
                project_id=version.skill.project_id,
                digest=version.digest,
                defaults={"skill": version.skill.name, "status": ScanStatus.PARTIAL, "scanner": ""},
            )
            Scan.objects.filter(pk=scan.pk).update(stored=True)
            Version.objects.filter(pk=version.pk, scan=None).update(scan=scan)


def run_due(
    *,
    clock: Callable[[], datetime] = timezone.now,
    budget: timedelta = timedelta(seconds=30),
    deep_pass: DeepPass = deep.run,
) -> bool:
    """Run due scans until `budget` is used up, so that other tasks get a turn. Return whether scans are left."""
    stop = clock() + budget
    while clock() < stop:
        scan = _take(now=clock())
        if scan is None:
            return False
        _run(scan, deep_pass, now=clock())
    return Scan.objects.filter(is_due(clock(), deep.version())).exists()


def _take(*, now: datetime) -> Scan | None:
    due = is_due(now, deep.version())
    for scan in Scan.objects.filter(due).select_related("project").order_by("deep_scanner", "-pk")[:10]:
        if scan.take_lease(due, now=now, lease=LEASE):
            return scan
    return None


def _run(scan: Scan, deep_pass: DeepPass, *, now: datetime) -> None:
    report = ScanReport(ScanStatus.FAILED, scans.findings_of(scan))
    if scan.attempts <= MOST_ATTEMPTS:  # more means that each worker died during the scan
        try:
            report = _deep_report(scan, deep_pass)
        except Exception:
            log.exception("The security scan of %s in project %s failed.", scan.digest, scan.project.slug)
            if scan.attempts < MOST_ATTEMPTS:
                scan.update_if_held(leased_until=None)
                return
    _apply(scan, report, now=now)


def _deep_report(scan: Scan, deep_pass: DeepPass) -> ScanReport:
    bundle = blobs.bundle(_files(scan))
    parsed = skill_md.read(bundle[SKILL_MD], fallback_name=scan.skill, limits=settings.LIMITS)
    names = {skill.name for skill in catalog.view(scan.project_id, scan.project.revision).skills} - {scan.skill}
    report = deep_pass(bundle, known_names=names, limits=settings.LIMITS)
    return scans.merged(scans.fast(bundle, parsed), report)


def _files(scan: Scan) -> tuple[FileEntry, ...]:
    version = Version.objects.filter(scan=scan).first()
    if version is not None:
        return version.manifest
    revisions = ProposalRevision.objects.filter(proposal__project=scan.project, result_digest=scan.digest)
    return revisions.values_list("result_manifest", flat=True)[:1].get()


def _apply(scan: Scan, report: ScanReport, *, now: datetime) -> None:
    """Store the result. A result that differs from the stored one is an event, and may raise an alarm."""
    before, result = scans.findings_of(scan), scans.columns(report)
    alarms = _alarms(scan, report)
    if alarms and scan.project.quarantines_alarms:
        _quarantine(scan, alarms)
    finished = {"leased_until": None, "attempts": 0, "deep_scanner": deep.version(), "scanned_at": now, **result}
    if all(getattr(scan, name) == value for name, value in result.items()):
        scan.update_if_held(**finished)
        return
    with scan.atomic(), audit.change(scan.project, "bundle.scanned", by=SYSTEM, target=scan.skill) as change:
        if not scan.update_if_held(**finished):
            change.cancel()
            return
        change.data.update(digest=scan.digest, **{name: result[name] for name in ("status", "errors", "warnings")})
        known = {suppressions.key(each) for each in before if each.severity is Severity.ERROR}
        if new := [each for each in alarms if suppressions.key(each) not in known]:
            _notify(scan, new)


def _alarms(scan: Scan, report: ScanReport) -> list[Finding]:
    """Return the errors that nobody suppressed."""
    errors = [each for each in report.findings if each.severity is Severity.ERROR]
    accepted = suppressions.active_keys(scan.project, scan.digest) if errors else frozenset()
    return [each for each in errors if suppressions.key(each) not in accepted]


def _quarantine(scan: Scan, alarms: list[Finding]) -> None:
    """Quarantine the versions with these bytes, for each skill in one change."""
    for version in Version.objects.available().filter(scan=scan).select_related("skill__current", "skill__project"):
        with audit.change(scan.project, "version.quarantined", by=SYSTEM, target=version.skill.name) as change:
            version.refresh_from_db()
            if not version.available:
                change.cancel()
                continue
            quarantine.hold(version, reason=_reason(alarms), change=change)


def _notify(scan: Scan, alarms: list[Finding]) -> None:
    current = Version.objects.available().filter(scan=scan, pk=F("skill__current_id"), skill__overrides=True)
    for version in current.select_related("skill").order_by("pk"):
        notifications.notify_about_version(
            events.ALARM, version, person=version.author_id, text=_reason(alarms), by=SYSTEM
        )


def _reason(alarms: list[Finding]) -> str:
    first = alarms[0]
    text = f"Security scan: {first.place}: {first.message}"
    return text if len(text) <= _REASON_CHARS else f"{text[: _REASON_CHARS - 1]}…"
