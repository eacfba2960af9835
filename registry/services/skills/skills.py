"""Changes to the skills of a project.

Each function checks the permission and the input, and makes its change in one transaction with one audit event.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import precedence
from registry.core.catalog.precedence import BUNDLED, EffectiveSkill
from registry.core.errors import AlreadyExists, Conflict, InvalidSkill, NotFound, PreconditionRequired, Stale
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.permissions import Actor, require_publish, require_reach, require_withdraw
from registry.services.skills import bundles, provenance, stale_proposals, versions


@dataclass(frozen=True, slots=True)
class Saved:
    version: Version
    created: bool
    findings: tuple[Finding, ...]


def create(project: Project, bundle: Bundle, *, note: str = "", gate_reason: str = "", by: Actor) -> Saved:
    """Create a skill. Under the name of a built-in skill it replaces that skill and its files for agents.

    `gate_reason` is why it is published although the routing gate refuses it.
    """
    require_publish(by, project)
    checked, note = bundles.check(bundle, authoring=True, project=project, by=by), versions.checked_note(note)
    require_reach(by, checked.name)
    if Skill.objects.filter(project=project, name=checked.name, overrides=True).exists():
        raise _taken(checked.name)
    bundles.require_publishable(project, checked, gate_reason=gate_reason, by=by)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.created", by=by, target=checked.name) as change:
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=checked.name)
        if skill.overrides:
            raise _taken(checked.name)
        provenance.forget(skill)
        version = versions.add(
            skill, bundle, checked.parsed, named=None, note=note, gate_reason=gate_reason, by=by, change=change
        )
    return Saved(version, True, checked.findings)


def _taken(name: str) -> AlreadyExists:
    return AlreadyExists(
        f"The project already has a skill {name}. Edit that one, or choose another name. Nothing was saved."
    )


def save(
    project: Project,
    name: str,
    bundle: Bundle,
    *,
    base: str | None,
    note: str = "",
    gate_reason: str = "",
    by: Actor,
) -> Saved:
    """Store the next version of a skill; `base` is the digest that the edit started from.

    Saving a built-in skill customises it. A name without a skill creates one. `gate_reason` is as in `create`.
    """
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    checked = bundles.check(bundle, authoring=True, directory=name, project=project, by=by)
    note = versions.checked_note(note)
    effective = catalog.find(project.pk, name)
    _check_base(effective, name, base)
    bundles.require_publishable(project, checked, gate_reason=gate_reason, by=by)
    upstream = _upstream(project, effective)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.saved", by=by, target=name) as change:
        effective = catalog.find(project.pk, name)
        _check_base(effective, name, base)
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=name)
        if not skill.overrides:
            provenance.forget(skill)
        if upstream is not None:
            set_upstream(skill, upstream)
        if skill.overrides and skill.current and skill.current.digest == bundle.digest:
            change.cancel()
            return Saved(skill.current, False, checked.findings)
        version = versions.add(
            skill, bundle, checked.parsed, named=None, note=note, gate_reason=gate_reason, by=by, change=change
        )
    return Saved(version, effective is None, checked.findings)


def _upstream(project: Project, effective: EffectiveSkill | None) -> Loaded | None:
    """Return the built-in skill that is being customised, and store its files: the directory may change later."""
    if effective is None or effective.winner is None or effective.winner.source != BUNDLED:
        return None
    _, loaded = catalog.inspect(project, effective.name)
    if loaded is None or loaded.candidate.digest != effective.winner.digest:
        message = f"The files of {effective.name} changed in the meantime. Load it again. Nothing was saved."
        raise Stale(message, digest=loaded.candidate.digest if loaded else "")
    blobs.put(loaded.bundle(), now=timezone.now())
    return loaded


def set_upstream(skill: Skill, upstream: Loaded) -> None:
    """Store the built-in skill that was customised. Call it inside a change, after its files were stored."""
    skill.upstream_digest, skill.upstream_version = upstream.candidate.digest, upstream.candidate.version
    skill.upstream_manifest = upstream.files
    skill.save(update_fields=["upstream_digest", "upstream_version", "upstream_manifest"])


def _check_base(effective: EffectiveSkill | None, name: str, base: str | None) -> None:
    """Raise Stale if the skill is not the one the author started from."""
    digest = precedence.digest_of(effective) or None
    if digest == base:
        return
    if base is None:
        raise PreconditionRequired(
            f'{name} exists. Send If-Match with the digest you started from, in quotes: "{digest}".',
            digest=digest,
        )
    if digest is None:
        reason = "no longer exists" if effective is None else "has no version that agents get. Save it without If-Match"
        raise Stale(f"{name} {reason}. Nothing was saved.", digest="")
    raise Stale(
        f"Somebody else saved {name} since you loaded it: it is {digest} now, you started from {base}. "
        "Load it again and repeat your change. Nothing was saved.",
        digest=digest,
    )


def with_text(project: Project, name: str, skill_md: str) -> Bundle:
    """Return the effective bundle of a name with another SKILL.md."""
    content = _encoded(skill_md)
    effective = catalog.find(project.pk, name)
    if effective is None or effective.winner is None:
        return Bundle({SKILL_MD: content})
    _, loaded = catalog.inspect(project, name)
    return loaded.bundle().with_changes({SKILL_MD: content}) if loaded else Bundle({SKILL_MD: content})


def with_parts(
    project: Project, name: str, *, description: str, instructions: str, metadata: Mapping[str, str] | None = None
) -> Bundle:
    """Return the effective bundle of a name with these parts of its SKILL.md replaced."""
    effective = catalog.find(project.pk, name)
    _, loaded = catalog.inspect(project, name) if effective and effective.winner else (None, None)
    if loaded is None:
        composed = skill_md.compose(
            name=name, description=description, instructions=instructions, metadata=metadata or {}
        )
        return from_text(composed)
    text = skill_md.revise(
        loaded.skill_md(),
        description=description,
        instructions=instructions,
        metadata=skill_md.UNCHANGED if metadata is None else metadata,
    )
    return loaded.bundle().with_changes({SKILL_MD: _encoded(text)})


def from_text(skill_md: str) -> Bundle:
    return Bundle({SKILL_MD: _encoded(skill_md)})


def _encoded(skill_md: str) -> bytes:
    try:
        return skill_md.encode()
    except UnicodeEncodeError as error:
        line = skill_md.count("\n", 0, error.start) + 1
        message = "This line contains an unpaired surrogate, which UTF-8 cannot encode."
        finding = Finding("not-utf-8", Severity.ERROR, SKILL_MD, line, message, "Delete the character.")
        raise InvalidSkill(f"SKILL.md, line {line}: {message} Nothing was saved.", findings=[finding]) from None


def disable(project: Project, name: str, *, by: Actor) -> None:
    """Hide a name from agents, whatever its source."""
    _switch(project, name, enabled=False, by=by)


def enable(project: Project, name: str, *, by: Actor) -> None:
    _switch(project, name, enabled=True, by=by)


def _switch(project: Project, name: str, *, enabled: bool, by: Actor) -> None:
    require_withdraw(by, project)
    require_reach(by, name)
    with audit.change(
        project, "skill.enabled" if enabled else "skill.disabled", by=by, target=normalise(name)
    ) as change:
        effective = catalog.get(project.pk, name)
        if effective.enabled == enabled:
            change.cancel()
            return
        Skill.objects.update_or_create(project=project, name=effective.name, defaults={"enabled": enabled})


def delete(project: Project, name: str, *, base: str | None = None, by: Actor) -> None:
    """Delete the project's skill but keep its history. Agents get a built-in skill of this name again."""
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    with audit.change(project, "skill.deleted", by=by, target=name) as change:
        skill = _row(project, name)
        if not skill.overrides:
            raise NotFound(f"The project has no skill {name}.")
        digest = skill.current_digest
        if base is not None and base != digest:
            raise Stale(f"Somebody else saved {name} since you loaded it: it is {digest} now.", digest=digest)
        remove(skill, change=change)


def remove(skill: Skill, *, change: audit.Change, approved: bool = False) -> None:
    """Delete a skill inside a change. `approved` is true if a reviewer approved the deletion."""
    if not approved:
        require_publish(change.by, skill.project)
    skill.overrides = False
    skill.save(update_fields=["overrides"])
    Version.objects.filter(skill=skill, deleted_at=None).update(deleted_at=timezone.now())
    change.before = skill.current_digest
    stale_proposals.mark_stale(skill, change=change)


def undelete(project: Project, name: str, *, gate_reason: str = "", by: Actor) -> Version:
    """Undo the last deletion. Versions that were deleted before it stay deleted."""
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    with audit.change(project, "skill.undeleted", by=by, target=name) as change:
        skill = _row(project, name)
        if skill.overrides:
            raise Conflict(f"{name} is not deleted.")
        if skill.current is None:
            raise NotFound(
                f"{name} cannot be restored: the versions that its last deletion ended were withdrawn or are in "
                "quarantine. Restore an older version, or lift a quarantine."
            )
        Version.objects.filter(skill=skill, deleted_at=skill.current.deleted_at).update(deleted_at=None)
        versions.reactivate(skill, skill.current, gate_reason=gate_reason, by=by, change=change)
        return skill.current


def _row(project: Project, name: str) -> Skill:
    skill = Skill.objects.filter(project=project, name=name).select_related("current", "project").first()
    if skill is None:
        raise NotFound(f"The project has no skill {name}.")
    return skill
