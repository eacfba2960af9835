"""Suppressed findings: a reviewer accepts one finding in exactly these bytes, with a reason and for a limited time."""

from datetime import datetime, timedelta

from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.core.findings import Finding
from registry.models import Project, Scan, Suppression
from registry.models.scans import SuppressionQuerySet
from registry.services import audit
from registry.services.permissions import Actor, require

REASON_CHARS = 300
DEFAULT_DAYS, MOST_DAYS = 90, 365
_EXPIRED_AT_ONCE = 200

Key = tuple[str, str, int]  # rule, file and line; line 0 stands for the whole file
_SEVERAL = -1  # the line of no suppression


def key(finding: Finding) -> Key:
    """Identify a finding. One that stands for others equals no suppression, because nobody has seen the others."""
    return finding.rule, finding.file, _SEVERAL if finding.more else finding.line or 0


def active_keys(project: Project, digest: str) -> frozenset[Key]:
    rows = Suppression.objects.active(timezone.now()).filter(project=project, digest=digest)
    return frozenset(rows.values_list("rule", "file", "line"))


def active_by_key(project: Project, digest: str) -> dict[Key, Suppression]:
    rows = Suppression.objects.active(timezone.now()).filter(project=project, digest=digest).for_list()
    return {(row.rule, row.file, row.line): row for row in rows}


def listed(project: Project, *, by: Actor) -> SuppressionQuerySet:
    """Return all suppressions of a project, newest first, also those that ended or expired."""
    require(by, roles.READ, project)
    return Suppression.objects.filter(project=project).for_list()


def suppress(
    project: Project,
    digest: str,
    *,
    rule: str,
    file: str,
    line: int | None,
    reason: str,
    days: int = DEFAULT_DAYS,
    by: Actor,
) -> Suppression:
    """Accept a finding of a scan. An expired suppression of the same finding is replaced."""
    require(by, roles.REVIEW, project)
    reason = _checked_reason(reason)
    if not 1 <= days <= MOST_DAYS:
        raise InvalidRequest(f"A suppression lasts 1 to {MOST_DAYS} days, not {days}. Nothing was saved.", field="days")
    scan = Scan.objects.filter(project=project, digest=digest).first()
    if scan is None:
        raise NotFound("The project has no scan of this digest.")
    _require_finding(scan, rule, file, line)
    place = {"digest": digest, "rule": rule, "file": file, "line": line or 0}
    now = timezone.now()
    with audit.change(project, "finding.suppressed", by=by, target=scan.skill) as change:
        earlier = Suppression.objects.filter(project=project, ended_at=None, **place).first()
        if earlier is not None and earlier.expires_at > now:
            raise Conflict("This finding is already suppressed. End the suppression first to change it.")
        if earlier is not None:
            Suppression.objects.filter(pk=earlier.pk).update(ended_at=earlier.expires_at)
        expires_at = now + timedelta(days=days)
        change.data.update(place, reason=reason, expires_at=expires_at.isoformat())
        return Suppression.objects.create(
            project=project, skill=scan.skill, reason=reason, by_id=by.user_id, expires_at=expires_at, **place
        )


def end(project: Project, suppression_id: int, *, by: Actor) -> Suppression:
    """End a suppression, so that its finding counts again."""
    require(by, roles.REVIEW, project)
    row = Suppression.objects.for_list().filter(project=project, pk=suppression_id).first()
    if row is None:
        raise NotFound("The project has no such suppression.")
    with audit.change(project, "suppression.ended", by=by, target=row.skill) as change:
        ended = Suppression.objects.filter(pk=row.pk, ended_at=None)
        if not ended.update(ended_at=timezone.now(), ended_by=by.user_id):
            raise Conflict("This suppression has already ended.")
        change.data.update(digest=row.digest, rule=row.rule, file=row.file, line=row.line, suppression=row.pk)
    row.refresh_from_db()
    return row


def expire(*, now: datetime, by: Actor) -> int:
    """End the suppressions whose time is over, for the sweep. Pages and answers leave them out before."""
    rows = Suppression.objects.filter(ended_at=None, expires_at__lte=now).select_related("project").order_by("pk")
    count = 0
    for row in rows[:_EXPIRED_AT_ONCE]:
        with audit.change(row.project, "suppression.ended", by=by, target=row.skill) as change:
            if not Suppression.objects.filter(pk=row.pk, ended_at=None).update(ended_at=row.expires_at):
                change.cancel()
                continue
            change.data.update(digest=row.digest, rule=row.rule, file=row.file, line=row.line, suppression=row.pk)
            count += 1
    return count


def _checked_reason(reason: str) -> str:
    reason = " ".join(reason.split())
    if not reason:
        raise InvalidRequest("Enter a reason: the next reviewer reads it. Nothing was saved.", field="reason")
    if len(reason) > REASON_CHARS:
        raise InvalidRequest(
            f"The reason has {len(reason)} characters. {REASON_CHARS} are allowed. Nothing was saved.", field="reason"
        )
    return reason


def _require_finding(scan: Scan, rule: str, file: str, line: int | None) -> None:
    same = [
        each for each in scan.findings if (each["rule"], each["file"], each["line"] or 0) == (rule, file, line or 0)
    ]
    if not same:
        raise NotFound("The scan of this digest has no such finding.")
    if more := same[0].get("more"):
        raise Conflict(
            f"This finding stands for {more:,} others that are not listed. Correct some of the text first, so that all "
            "findings are listed. Nothing was saved."
        )
