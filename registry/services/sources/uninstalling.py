"""Uninstall imported skills, without losing edits that nobody saw."""

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
from registry.services.permissions import Actor, is_protected, reach, require
from registry.services.proposals import proposals
from registry.services.proposals.prepare import UPDATE, Suggestion
from registry.services.routing import publish_gate
from registry.services.skills import provenance, skills, versions
from registry.services.skills.stale_proposals import DELETE
from registry.services.sources import source_entries


def find(project: Project, source_id: int, name: str, *, by: Actor) -> Installation:
    """Return the installation of a source entry, by its name in the source."""
    source = source_entries.find(project, source_id, by=by)
    rows = Installation.objects.standing().filter(source=source, name=name)
    installation = rows.first() if "\0" not in name else None
    names = reach(by)
    if installation is None or (names is not None and installation.skill.name not in names):
        raise NotFound(f"The project has no skill {paths.display(name)} from this source.")
    return installation


def uninstall(
    project: Project, source_id: int, name: str, *, seen: str = "", gate_reason: str = "", by: Actor
) -> ImportResult:
    """Restore the version from before the import, or delete the skill if there was none. The history stays.

    If the skill was edited, `seen` must be its digest, so that nobody loses an edit without seeing it.
    """
    require(by, roles.WRITE, project)
    found = find(project, source_id, name, by=by)
    _check_seen(found, seen)
    if is_protected(project.pk) and not _is_unchanged(found):
        return _propose(found, by=by)
    if (back := _bundle_before(found)) is not None:
        publish_gate.check(project, found.skill.name, back[SKILL_MD], reason=gate_reason, by=by)
    with audit.change(project, "source.uninstalled", by=by, target=found.skill.name) as change:
        found = find(project, source_id, name, by=by)
        _check_seen(found, seen)
        if is_protected(project.pk) and not _is_unchanged(found):
            raise Stale(f"{found.skill.name} changed meanwhile. Review it again.", digest=_digest(found))
        change.data["source"] = provenance.audit_data(found.source) | {"name": name}
        version = _uninstall(found, gate_reason, by=by, change=change)
    skill = found.skill.name
    return ImportResult(
        name, UNINSTALLED, "", skill, version.version if version else "", version.digest if version else ""
    )


def _check_seen(found: Installation, seen: str) -> None:
    digest = _digest(found)
    if seen and seen != digest:
        raise Stale(f"Somebody saved {found.skill.name} since you opened the page. Review it again.", digest=digest)
    if found.edited and not seen:
        raise PreconditionRequired(
            f"{found.skill.name} was edited here after the import. To remove it with the edit, send its digest: "
            f"{digest}. Nothing was changed.",
            digest=digest,
        )


def _is_unchanged(found: Installation) -> bool:
    """Return whether agents already get the version to restore, so that there is nothing to review."""
    before = found.before
    return before is not None and before.available and before.digest == _digest(found)


def _digest(found: Installation) -> str:
    return found.skill.current_digest


def _uninstall(found: Installation, gate_reason: str, *, by: Actor, change: Change) -> Version | None:
    """Return the restored version, or None if the skill is deleted. Call inside an audit change."""
    skill, back = found.skill, _bundle_before(found)
    found.delete()
    if found.before is None or back is None:
        skills.remove(skill, change=change)
        return None
    if skill.current is not None and skill.current.digest == back.digest:
        change.before = change.after = back.digest
        return skill.current
    said = skill_md.read(back[SKILL_MD], fallback_name=skill.name)
    note = f"As in version {found.before.version}, before the import from {found.source}"[: versions.NOTE_CHARS]
    return versions.add(skill, back, said, named=None, note=note, gate_reason=gate_reason, by=by, change=change)


def _bundle_before(found: Installation) -> Bundle | None:
    """Return the bundle from before the import, or None if there was none or agents may not get it any more."""
    before = found.before
    return blobs.bundle(before.manifest) if before is not None and before.available else None


def _propose(found: Installation, *, by: Actor) -> ImportResult:
    skill, back = found.skill, _bundle_before(found)
    current = skill.current.manifest if skill.current else ()
    edit = None
    if back is not None:
        edit = Edit({**{entry.path: None for entry in current if entry.path not in back}, **back})
    suggestion = Suggestion(
        skill.name,
        edit,
        f"Uninstall the skill from {found.source.shown}",
        kind=DELETE if edit is None else UPDATE,
        base_digest=skill.current_digest or None,
    )
    proposal = proposals.propose(skill.project, suggestion, by=by).proposal
    reason = "Every change in this project is reviewed first."
    return ImportResult(found.name, PROPOSED, reason, skill.name, digest=proposal.result_digest, proposal=proposal.pk)
