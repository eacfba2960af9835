"""Quarantine: take a version from agents at once, and give it back.

A quarantine holds bytes: it covers all versions of the skill with the same digest, so that no older copy takes over and
nobody can publish the same content again. People still see the version.
"""

from django.db.models import Max
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import Conflict, InvalidRequest
from registry.core.notifications import events
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require
from registry.services.skills import stale_proposals, versions


def quarantine(project: Project, name: str, version: str, *, reason: str, by: Actor) -> Version:
    """Take a version from agents. They get its successor, or nothing if there is none."""
    require(by, roles.REVIEW, project)
    reason = versions.checked_note(reason)
    if not reason:
        raise InvalidRequest("Enter a reason: the people of the project see it.", field="reason")
    with audit.change(project, "version.quarantined", by=by, target=normalise(name)) as change:
        row = versions.get(project, name, version)
        if row.quarantined_at is not None:
            raise Conflict(f"Version {version} of {row.skill.name} is already in quarantine.")
        hold(row, reason=reason, change=change)
        return row


def hold(row: Version, *, reason: str, change: Change) -> None:
    """Quarantine the bytes of a version inside a change."""
    skill, now = row.skill, timezone.now()
    change.before = skill.current_digest
    same = Version.objects.filter(skill=skill, digest=row.digest, quarantined_at=None)
    same.update(quarantined_at=now, quarantine_reason=reason, quarantined_by=change.by.user_id)
    row.refresh_from_db(fields=["quarantined_at", "quarantine_reason", "quarantined_by"])
    if skill.current is not None and skill.current.digest == row.digest:
        skill.current = next_without(skill.current)
        skill.save(update_fields=["current"])
    _finish(row, change, events.QUARANTINED, reason)


def next_without(row: Version) -> Version | None:
    """Return the version that agents get when the bytes of the current one are in quarantine, or None."""
    rows = Version.objects.filter(skill=row.skill_id).with_one_end(row.deleted_at)
    return rows.exclude(digest=row.digest).newest_first().first()


def release(project: Project, name: str, version: str, *, reason: str = "", by: Actor) -> Version:
    """Lift the quarantine. The newest version that agents may get becomes current."""
    require(by, roles.REVIEW, project)
    reason = versions.checked_note(reason)
    with audit.change(project, "version.released", by=by, target=normalise(name)) as change:
        row = versions.get(project, name, version)
        if row.quarantined_at is None:
            raise Conflict(f"Version {version} of {row.skill.name} is not in quarantine.")
        skill = row.skill
        change.before = skill.current_digest
        same = Version.objects.filter(skill=skill, digest=row.digest)
        same.update(quarantined_at=None, quarantine_reason="", quarantined_by=None)
        row.refresh_from_db(fields=["quarantined_at", "quarantine_reason", "quarantined_by"])
        skill.current = _newest(skill)
        skill.save(update_fields=["current"])
        _finish(row, change, events.RELEASED, reason)
        return row


def _newest(skill: Skill) -> Version | None:
    """Return the newest version since the last deletion; for a deleted skill, the one that restoring it brings back."""
    epoch = None if skill.overrides else skill.versions.aggregate(last=Max("deleted_at"))["last"]
    return Version.objects.filter(skill=skill).with_one_end(epoch).newest_first().first()


def _finish(row: Version, change: Change, event: str, reason: str) -> None:
    skill = row.skill
    change.after = skill.current_digest
    change.data.update(version=row.version, digest=row.digest, reason=reason)
    stale_proposals.mark_stale(skill, change=change)
    notifications.notify_about_version(event, row, person=row.author_id, text=reason, by=change.by)
