"""What people and agents do to the skills of a project. Each verb: permission, check, one transaction, one event."""

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


def create(project: Project, bundle: Bundle, *, note: str = "", by: Actor) -> Saved:
    """A new skill of the project. Under the name of a bundled skill it is an override, and hides its files too."""
    require_publish(by, project)
    checked, note = bundles.check(bundle, authoring=True, project=project, by=by), versions.checked_note(note)
    require_reach(by, checked.name)
    if Skill.objects.filter(project=project, name=checked.name, overrides=True).exists():
        raise _taken(checked.name)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.created", by=by, target=checked.name) as change:
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=checked.name)
        if skill.overrides:
            raise _taken(checked.name)
        provenance.forget(skill)
        version = versions.add(skill, bundle, checked.said, named=None, note=note, by=by, change=change)
    return Saved(version, True, checked.findings)


def _taken(name: str) -> AlreadyExists:
    return AlreadyExists(
        f"The project has a skill {name} already. Save a new version of it, or choose another name. Nothing was stored."
    )


def save(project: Project, name: str, bundle: Bundle, *, base: str | None, note: str = "", by: Actor) -> Saved:
    """The next version of what stands under a name; `base` is the digest of what the editor started from.

    Saving over a bundled skill makes an override. A name that nothing stands under yet is created.
    """
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    checked = bundles.check(bundle, authoring=True, directory=name, project=project, by=by)
    note = versions.checked_note(note)
    standing = catalog.find(project.pk, name)
    _guard(standing, name, base)
    upstream = _upstream(project, standing)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.saved", by=by, target=name) as change:
        standing = catalog.find(project.pk, name)
        _guard(standing, name, base)
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=name)
        if not skill.overrides:
            provenance.forget(skill)
        if upstream is not None:
            remember(skill, upstream)
        if skill.overrides and skill.current and skill.current.digest == bundle.digest:
            change.cancel()
            return Saved(skill.current, False, checked.findings)
        version = versions.add(skill, bundle, checked.said, named=None, note=note, by=by, change=change)
    return Saved(version, standing is None, checked.findings)


def _upstream(project: Project, standing: EffectiveSkill | None) -> Loaded | None:
    """The bundled skill that an override starts from, with its files stored: the directory may change later."""
    if standing is None or standing.winner is None or standing.winner.source != BUNDLED:
        return None
    _, loaded = catalog.inspect(project, standing.name)
    if loaded is None or loaded.candidate.digest != standing.winner.digest:
        message = f"{standing.name} changed on disk meanwhile. Load it again. Nothing was stored."
        raise Stale(message, digest=loaded.candidate.digest if loaded else "")
    blobs.put(loaded.bundle(), now=timezone.now())
    return loaded


def remember(skill: Skill, upstream: Loaded) -> None:
    """Where the skill came from; the caller has stored the files, and is inside its change."""
    skill.upstream_digest, skill.upstream_version = upstream.candidate.digest, upstream.candidate.version
    skill.upstream_manifest = upstream.files
    skill.save(update_fields=["upstream_digest", "upstream_version", "upstream_manifest"])


def _guard(standing: EffectiveSkill | None, name: str, base: str | None) -> None:
    """Refuses a save that would overwrite what its author never saw."""
    digest = precedence.digest_of(standing) or None
    if digest == base:
        return
    if base is None:
        raise PreconditionRequired(
            f'{name} exists. Send If-Match with the digest you started from, in quotes: "{digest}".',
            digest=digest,
        )
    if digest is None:
        raise Stale(f"{name} does not exist any more. Nothing was stored.", digest="")
    raise Stale(
        f"{name} was saved by somebody else since you loaded it: it is {digest} now, you started from {base}. "
        "Load it again and bring your change over. Nothing was stored.",
        digest=digest,
    )


def with_text(project: Project, name: str, skill_md: str) -> Bundle:
    """What stands under a name with its SKILL.md replaced; the other files stay."""
    content = _encoded(skill_md)
    standing = catalog.find(project.pk, name)
    if standing is None or standing.winner is None:
        return Bundle({SKILL_MD: content})
    _, loaded = catalog.inspect(project, name)
    return loaded.bundle().with_changes({SKILL_MD: content}) if loaded else Bundle({SKILL_MD: content})


def with_parts(
    project: Project, name: str, *, description: str, instructions: str, metadata: Mapping[str, str] | None = None
) -> Bundle:
    """What stands under a name with these parts of its SKILL.md replaced; the rest of its header and its files stay."""
    standing = catalog.find(project.pk, name)
    _, loaded = catalog.inspect(project, name) if standing and standing.winner else (None, None)
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
        message = "There is half a character (an unpaired surrogate) that no file can hold."
        finding = Finding("not-utf-8", Severity.ERROR, SKILL_MD, line, message, "Delete the character.")
        raise InvalidSkill(f"SKILL.md, line {line}: {message} Nothing was stored.", findings=[finding]) from None


def disable(project: Project, name: str, *, by: Actor) -> None:
    """Hides a name from agents whatever its source; nothing shows through."""
    _switch(project, name, enabled=False, by=by)


def enable(project: Project, name: str, *, by: Actor) -> None:
    _switch(project, name, enabled=True, by=by)


def _switch(project: Project, name: str, *, enabled: bool, by: Actor) -> None:
    require_withdraw(by, project)
    require_reach(by, name)
    with audit.change(
        project, "skill.enabled" if enabled else "skill.disabled", by=by, target=normalise(name)
    ) as change:
        standing = catalog.get(project.pk, name)
        if standing.enabled == enabled:
            change.cancel()
            return
        Skill.objects.update_or_create(project=project, name=standing.name, defaults={"enabled": enabled})


def delete(project: Project, name: str, *, base: str | None = None, by: Actor) -> None:
    """Removes the project's own skill; a bundled one of the name shows again. History stays and can be restored."""
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    with audit.change(project, "skill.deleted", by=by, target=name) as change:
        skill = _own(project, name)
        if not skill.overrides:
            raise NotFound(f"The project has no skill {name} of its own.")
        digest = skill.current_digest
        if base is not None and base != digest:
            raise Stale(f"{name} was saved by somebody else since you loaded it: it is {digest} now.", digest=digest)
        remove(skill, change=change)


def remove(skill: Skill, *, change: audit.Change, approved: bool = False) -> None:
    """Inside a change: the project's own skill goes, its history stays. `approved`: a reviewer let that through."""
    if not approved:
        require_publish(change.by, skill.project)
    skill.overrides = False
    skill.save(update_fields=["overrides"])
    change.before = skill.current_digest
    stale_proposals.mark(skill, change=change)


def undelete(project: Project, name: str, *, by: Actor) -> Version:
    """Brings a deleted skill back as it was: its newest version that was not yanked."""
    require_publish(by, project)
    name = normalise(name)
    require_reach(by, name)
    with audit.change(project, "skill.undeleted", by=by, target=name) as change:
        skill = _own(project, name)
        if skill.overrides:
            raise Conflict(f"{name} is not deleted.")
        if skill.current is None:
            raise NotFound(f"No version of {name} can be brought back: there is none, or each was withdrawn.")
        versions.bring_back(skill, skill.current, by=by, change=change)
        return skill.current


def _own(project: Project, name: str) -> Skill:
    skill = Skill.objects.filter(project=project, name=name).select_related("current", "project").first()
    if skill is None:
        raise NotFound(f"The project has no skill {name} of its own.")
    return skill
