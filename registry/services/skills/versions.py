"""Versions of a project's skill: written once, restored as new ones, yanked with a reason."""

from django.utils import timezone

from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import token_estimate
from registry.core.errors import Conflict, InvalidRequest, NotFound, VersionConflict
from registry.core.format import skill_md
from registry.core.notifications import events
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require_publish, require_reach, require_withdraw
from registry.services.skills import stale_proposals

NOTE_CHARS = 300


def get(project: Project, name: str, version: str) -> Version:
    """A version that can still be had; a yanked one says so and stays shut."""
    found = _find(project, name, version)
    if found.yanked_at is not None:
        raise NotFound(f"Version {version} of {found.skill.name} was withdrawn: {found.yank_reason}")
    return found


def history(project: Project, name: str) -> list[Version]:
    """Every version, newest first, those of a deleted skill included."""
    found = list(
        Version.objects.for_timeline()
        .filter(skill__project=project, skill__name=normalise(name))
        .select_related("skill")
    )
    if not found:
        raise NotFound(f"The project has no versions of its own of {normalise(name)}.")
    return found


def add(
    skill: Skill,
    bundle: Bundle,
    said: skill_md.SkillMd,
    *,
    named: str | None,
    note: str,
    by: Actor,
    change: Change,
    approved: bool = False,
) -> Version:
    """Writes the next version inside the caller's change; `named` is the version an import's source gives.

    `approved`: a reviewer let it through, which is the only way into a project where every change is reviewed.
    """
    if not approved:
        require_publish(by, skill.project)
    version = Version(
        skill=skill,
        version=named if named is not None else next_number(skill),
        digest=bundle.digest,
        manifest=bundle.manifest,
        size=bundle.size,
        description=said.description,
        kind=said.kind,
        tags=list(said.tags),
        requires=list(said.requires),
        triggers=list(said.triggers),
        tokens=token_estimate.estimate(said.instructions),
        note=checked_note(note),
        author_id=by.user_id,
        agent_id=by.agent_id,
    )
    version.save(force_insert=True)
    change.before = skill.current_digest if skill.overrides else ""
    before = skill.current.author_id if skill.current else None
    change.after = version.digest
    change.data["version"] = version.version
    skill.current, skill.overrides = version, True
    if version.version.isdecimal() and len(version.version) < 9:
        skill.last_number = max(skill.last_number, int(version.version))
    skill.save(update_fields=["current", "overrides", "last_number"])
    stale_proposals.mark(skill, change=change)
    notifications.notify_about_version(events.PUBLISHED, version, person=before, text=version.note, by=change.by)
    return version


def bring_back(skill: Skill, version: Version, *, by: Actor, change: Change) -> None:
    """A deleted skill stands again, with one of the versions it had."""
    require_publish(by, skill.project)
    skill.current, skill.overrides = version, True
    skill.save(update_fields=["current", "overrides"])
    change.after = version.digest
    change.data["version"] = version.version
    stale_proposals.mark(skill, change=change)
    notifications.notify_about_version(events.PUBLISHED, version, person=version.author_id, by=change.by)


def checked_note(note: str) -> str:
    note = " ".join(note.split())
    if len(note) > NOTE_CHARS:
        raise InvalidRequest(f"The note has {len(note)} characters. {NOTE_CHARS} are allowed. Nothing was stored.")
    return note


def next_number(skill: Skill) -> str:
    """The next integer that no version of this skill ever had: a version string never stands for other bytes."""
    number = skill.last_number + 1
    while Version.objects.filter(skill=skill, version=str(number)).exists():
        number += 1
    return str(number)


def same_version(skill: Skill, named: str, bundle: Bundle) -> Version | None:
    """The stored version of that name if it holds the same bytes; other bytes are an error naming both."""
    found = Version.objects.filter(skill=skill, version=named).first()
    if found is None:
        return None
    if found.digest != bundle.digest:
        raise VersionConflict(
            f"Version {named} of {skill.name} is stored with other content ({found.digest}); this one has "
            f"{bundle.digest}. Give the new content a version of its own. Nothing was stored.",
            stored=found.digest,
            given=bundle.digest,
        )
    if found.yanked_at is not None:
        raise Conflict(f"Version {named} of {skill.name} was withdrawn: {found.yank_reason} Nothing was stored.")
    return found


def restore(project: Project, name: str, version: str, *, note: str = "", by: Actor) -> Version:
    """An old version becomes the newest one. Also brings back a deleted skill."""
    require_publish(by, project)
    require_reach(by, name)
    with audit.change(project, "version.restored", by=by, target=normalise(name)) as change:
        old = get(project, name, version)
        bundle = blobs.bundle(old.manifest)
        said = skill_md.read(bundle[SKILL_MD], fallback_name=old.skill.name)
        change.data["restored"] = old.version
        return add(
            old.skill,
            bundle,
            said,
            named=None,
            note=note or f"Restored version {old.version}",
            by=by,
            change=change,
        )


def yank(project: Project, name: str, version: str, *, reason: str, by: Actor) -> Version:
    """Makes one version unavailable on every path; the newest one left becomes current."""
    require_withdraw(by, project)
    require_reach(by, name)
    reason = checked_note(reason)
    if not reason:
        raise InvalidRequest("Say why the version is withdrawn: the reason is shown to whoever looks for it.")
    with audit.change(project, "version.yanked", by=by, target=normalise(name)) as change:
        found = _find(project, name, version)
        if found.yanked_at is not None:
            raise Conflict(f"Version {version} of {found.skill.name} is withdrawn already.")
        found.yanked_at, found.yank_reason = timezone.now(), reason
        found.save(update_fields=["yanked_at", "yank_reason"])
        skill = found.skill
        change.before = skill.current_digest
        skill.current = Version.objects.available().filter(skill=skill).newest_first().first()
        skill.save(update_fields=["current"])
        change.after = skill.current_digest
        change.data.update(version=found.version, reason=reason)
        stale_proposals.mark(skill, change=change)
        notifications.notify_about_version(events.YANKED, found, person=found.author_id, text=reason, by=by)
        return found


def _find(project: Project, name: str, version: str) -> Version:
    found = (
        Version.objects.filter(skill__project=project, skill__name=normalise(name), version=version)
        .select_related("skill__current")
        .first()
    )
    if found is None:
        raise NotFound(f"The project has no version {version} of {normalise(name)}.")
    return found
