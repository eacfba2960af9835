"""Uninstalls skills that came from a source: only what came from there, and no edit that nobody saw."""

from registry.core import paths, roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import NotFound, PreconditionRequired, Stale
from registry.core.format import skill_md
from registry.core.sources.import_request import PROPOSED, UNINSTALLED, ImportResult
from registry.core.text.edits import Edit
from registry.models import Installation, Project, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.files import blobs
from registry.services.permissions import Actor, is_protected, require, require_reach
from registry.services.proposals import proposals
from registry.services.proposals.prepare import UPDATE, Suggestion
from registry.services.skills import provenance, skills, versions
from registry.services.skills.stale_proposals import DELETE
from registry.services.sources import source_entries


def find(project: Project, source_id: int, name: str, *, by: Actor) -> Installation:
    """What the project has of a source, by the source's name for it."""
    source = source_entries.find(project, source_id, by=by)
    found = Installation.objects.standing().filter(source=source, name=name).first() if "\0" not in name else None
    if found is None:
        raise NotFound(f"The project has no skill {paths.display(name)} from this source.")
    return found


def uninstall(project: Project, source_id: int, name: str, *, seen: str = "", by: Actor) -> ImportResult:
    """Takes away what came from the source: what stood before it came stands again, or the skill goes.

    History stays. Where the skill was edited here, `seen` has to be its digest: nobody loses an edit unawares.
    """
    require(by, roles.WRITE, project)
    found = find(project, source_id, name, by=by)
    require_reach(by, found.skill.name)
    _check_seen(found, seen)
    if is_protected(project.pk) and not _stands(found):
        return _propose(found, by=by)
    with audit.change(project, "source.uninstalled", by=by, target=found.skill.name) as change:
        found = find(project, source_id, name, by=by)
        _check_seen(found, seen)
        if is_protected(project.pk) and not _stands(found):
            raise Stale(f"{found.skill.name} was changed meanwhile. Look again.", digest=_digest(found))
        change.data["source"] = provenance.described(found.source) | {"name": name}
        version = _take_away(found, by=by, change=change)
    skill = found.skill.name
    return ImportResult(
        name, UNINSTALLED, "", skill, version.version if version else "", version.digest if version else ""
    )


def _check_seen(found: Installation, seen: str) -> None:
    digest = _digest(found)
    if seen and seen != digest:
        raise Stale(f"{found.skill.name} was saved by somebody since you looked. Look again.", digest=digest)
    if found.edited and not seen:
        raise PreconditionRequired(
            f"{found.skill.name} was edited here since it came. To remove it with the edit, name the digest you saw: "
            f"{digest}. Nothing was changed.",
            digest=digest,
        )


def _stands(found: Installation) -> bool:
    """What would come back is what agents get already, so that there is nothing to review."""
    before = found.before
    return before is not None and before.yanked_at is None and before.digest == _digest(found)


def _digest(found: Installation) -> str:
    return found.skill.current_digest


def _take_away(found: Installation, *, by: Actor, change: Change) -> Version | None:
    """Inside a change: the version that stands afterwards, None where the skill goes."""
    skill, back = found.skill, _back(found)
    found.delete()
    if found.before is None or back is None:
        skills.remove(skill, change=change)
        return None
    if skill.current is not None and skill.current.digest == back.digest:
        change.before = change.after = back.digest
        return skill.current
    said = skill_md.read(back[SKILL_MD], fallback_name=skill.name)
    note = f"As in version {found.before.version}, before it came from {found.source}"[: versions.NOTE_CHARS]
    return versions.add(skill, back, said, named=None, note=note, by=by, change=change)


def _back(found: Installation) -> Bundle | None:
    """What stood before the skill came; what was withdrawn meanwhile does not come back."""
    before = found.before
    return blobs.bundle(before.manifest) if before is not None and before.yanked_at is None else None


def _propose(found: Installation, *, by: Actor) -> ImportResult:
    skill, back = found.skill, _back(found)
    standing = skill.current.manifest if skill.current else ()
    edit = None
    if back is not None:
        edit = Edit({**{entry.path: None for entry in standing if entry.path not in back}, **back})
    suggestion = Suggestion(
        skill.name,
        edit,
        f"Uninstall what came from {found.source.shown}",
        kind=DELETE if edit is None else UPDATE,
        base_digest=skill.current.digest if skill.current else None,
    )
    made = proposals.propose(skill.project, suggestion, by=by).proposal
    reason = "Every change of this project is reviewed first."
    return ImportResult(found.name, PROPOSED, reason, skill.name, digest=made.result_digest, proposal=made.pk)
