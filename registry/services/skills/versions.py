"""Versions of a project's skill: add, restore and withdraw."""

from django.utils import timezone

from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import token_estimate
from registry.core.errors import Conflict, InvalidRequest, NotFound, VersionConflict
from registry.core.format import skill_md
from registry.core.notifications import events
from registry.models import Project, Scan, Skill, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require_publish, require_reach, require_withdraw
from registry.services.routing import publish_gate
from registry.services.scans import scans
from registry.services.skills import stale_proposals

NOTE_CHARS = 300


def get(project: Project, name: str, version: str) -> Version:
    """Return a version. A withdrawn one raises NotFound with the reason."""
    row = find(project, name, version)
    if row.yanked_at is not None:
        raise NotFound(f"Version {version} of {row.skill.name} was withdrawn: {row.yank_reason}")
    return row


def history(project: Project, name: str) -> list[Version]:
    """Return all versions, newest first, also of a deleted skill."""
    rows = list(
        Version.objects.for_timeline()
        .filter(skill__project=project, skill__name=normalise(name))
        .select_related("skill")
    )
    if not rows:
        raise NotFound(f"The project has no versions of {normalise(name)}.")
    return rows


def add(
    skill: Skill,
    bundle: Bundle,
    parsed: skill_md.SkillMd,
    *,
    named: str | None,
    note: str,
    gate_reason: str = "",
    by: Actor,
    change: Change,
    approved: bool = False,
) -> Version:
    """Store the next version, inside the caller's change. `named` is the version that an import brings.

    `approved` is true for a proposal that a reviewer approved, the only way into a project that requires reviews.
    """
    if not approved:
        require_publish(by, skill.project)
    publish_gate.require(skill.project, skill.name, bundle[SKILL_MD], reason=gate_reason, change=change)
    version = _row(skill, bundle, parsed, by=by)
    version.scan = _require_allowed(skill, bundle, parsed)
    version.version = named if named is not None else next_number(skill)
    version.note = checked_note(note)
    version.save(force_insert=True)
    change.before = skill.current_digest if skill.overrides else ""
    before = skill.current.author_id if skill.current else None
    change.after = version.digest
    change.data["version"] = version.version
    skill.current, skill.overrides = version, True
    if version.version.isdecimal() and len(version.version) < 9:
        skill.last_number = max(skill.last_number, int(version.version))
    skill.save(update_fields=["current", "overrides", "last_number"])
    stale_proposals.mark_stale(skill, change=change)
    notifications.notify_about_version(events.PUBLISHED, version, person=before, text=version.note, by=change.by)
    return version


def _row(skill: Skill, bundle: Bundle, parsed: skill_md.SkillMd, *, by: Actor) -> Version:
    return Version(
        skill=skill,
        digest=bundle.digest,
        manifest=bundle.manifest,
        size=bundle.size,
        description=parsed.description,
        kind=parsed.kind,
        tags=list(parsed.tags),
        requires=list(parsed.requires),
        triggers=list(parsed.triggers),
        tokens=token_estimate.estimate(parsed.instructions),
        author_id=by.user_id,
        agent_id=by.agent_id,
    )


def reactivate(skill: Skill, version: Version, *, gate_reason: str = "", by: Actor, change: Change) -> None:
    """Make a deleted version the current one. Other deleted versions stay deleted."""
    require_publish(by, skill.project)
    bundle = blobs.bundle(version.manifest)
    publish_gate.require(skill.project, skill.name, bundle[SKILL_MD], reason=gate_reason, change=change)
    version.scan = _require_allowed(skill, bundle, skill_md.read(bundle[SKILL_MD], fallback_name=skill.name))
    version.deleted_at = None
    version.save(update_fields=["deleted_at", "scan"])
    skill.current, skill.overrides = version, True
    skill.save(update_fields=["current", "overrides"])
    change.after = version.digest
    change.data["version"] = version.version
    stale_proposals.mark_stale(skill, change=change)
    notifications.notify_about_version(events.PUBLISHED, version, person=version.author_id, by=change.by)


def _require_allowed(skill: Skill, bundle: Bundle, parsed: skill_md.SkillMd) -> Scan:
    """Return the scan of a bundle. Raise if its bytes are in quarantine, or if its findings block it."""
    _require_released(skill, bundle.digest)
    report = scans.fast(bundle, parsed)
    scan = scans.record(skill.project, skill.name, bundle.digest, report)
    scans.require_allowed(scan, report)
    return scan


def _require_released(skill: Skill, digest: str) -> None:
    held = Version.objects.filter(skill=skill, digest=digest, quarantined_at__isnull=False).first()
    if held is not None:
        raise Conflict(
            f"Version {held.version} of {skill.name} has the same content and is in quarantine: "
            f"{held.quarantine_reason} A reviewer can lift the quarantine. Nothing was saved.",
            version=held.version,
        )


def checked_note(note: str) -> str:
    note = " ".join(note.split())
    if len(note) > NOTE_CHARS:
        raise InvalidRequest(f"The note has {len(note)} characters. {NOTE_CHARS} are allowed. Nothing was saved.")
    return note


def next_number(skill: Skill) -> str:
    """Return the next number that no version of this skill ever had, so that a version always means the same bytes."""
    number = skill.last_number + 1
    while Version.objects.filter(skill=skill, version=str(number)).exists():
        number += 1
    return str(number)


def same_version(skill: Skill, named: str, bundle: Bundle) -> Version | None:
    """Return the stored version of this name. Raise VersionConflict if its bytes differ."""
    stored = Version.objects.filter(skill=skill, version=named).first()
    if stored is None:
        return None
    if stored.digest != bundle.digest:
        raise VersionConflict(
            f"Version {named} of {skill.name} already exists with other content ({stored.digest}); this bundle is "
            f"{bundle.digest}. Use another version. Nothing was saved.",
            stored=stored.digest,
            given=bundle.digest,
        )
    if stored.yanked_at is not None:
        raise Conflict(f"Version {named} of {skill.name} was withdrawn: {stored.yank_reason} Nothing was saved.")
    return stored


def restore(project: Project, name: str, version: str, *, note: str = "", gate_reason: str = "", by: Actor) -> Version:
    """Store an old version again as the newest one. Also restores a deleted skill."""
    require_publish(by, project)
    require_reach(by, name)
    stored = blobs.bundle(get(project, name, version).manifest)
    publish_gate.check(project, name, stored[SKILL_MD], reason=gate_reason, by=by)
    with audit.change(project, "version.restored", by=by, target=normalise(name)) as change:
        old = get(project, name, version)
        bundle = blobs.bundle(old.manifest)
        parsed = skill_md.read(bundle[SKILL_MD], fallback_name=old.skill.name)
        change.data["restored"] = old.version
        return add(
            old.skill,
            bundle,
            parsed,
            named=None,
            note=note or f"Restored version {old.version}",
            gate_reason=gate_reason,
            by=by,
            change=change,
        )


def yank(project: Project, name: str, version: str, *, reason: str, by: Actor) -> Version:
    """Withdraw a version everywhere. Its successor becomes current if it was the current one."""
    require_withdraw(by, project)
    require_reach(by, name)
    reason = checked_note(reason)
    if not reason:
        raise InvalidRequest("Enter a reason: people and agents who ask for this version see it.")
    with audit.change(project, "version.yanked", by=by, target=normalise(name)) as change:
        row = find(project, name, version)
        if row.yanked_at is not None:
            raise Conflict(f"Version {version} of {row.skill.name} was already withdrawn.")
        row.yanked_at, row.yank_reason = timezone.now(), reason
        row.save(update_fields=["yanked_at", "yank_reason"])
        skill = row.skill
        change.before = skill.current_digest
        if skill.current_id == row.pk:
            skill.current = successor(row)
            skill.save(update_fields=["current"])
        change.after = skill.current_digest
        change.data.update(version=row.version, reason=reason)
        stale_proposals.mark_stale(skill, change=change)
        notifications.notify_about_version(events.YANKED, row, person=row.author_id, text=reason, by=by)
        return row


def successor(version: Version) -> Version | None:
    """Return the version that takes over when this one is withdrawn or quarantined, or None.

    Versions from before a deletion never take over: only a person brings them back, with `restore`.
    """
    remaining = Version.objects.filter(skill=version.skill_id).with_one_end(version.deleted_at)
    return remaining.exclude(pk=version.pk).newest_first().first()


def find(project: Project, name: str, version: str) -> Version:
    """Return a version, also a withdrawn or quarantined one."""
    row = (
        Version.objects.filter(skill__project=project, skill__name=normalise(name), version=version)
        .select_related("skill__current")
        .first()
    )
    if row is None:
        raise NotFound(f"The project has no version {version} of {normalise(name)}.")
    return row
