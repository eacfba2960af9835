"""Import and update skills from a source without losing edits.

Each import is one transaction with one audit event. In a protected project it becomes a proposal.
"""

from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone

from registry.core import paths, roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import precedence
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import Conflict, NotFound, SkillsiteError, Stale
from registry.core.format import skill_md
from registry.core.sources.import_request import (
    CONFLICTS,
    EDITED,
    FAILED,
    IMPORTED,
    KEEP,
    KEPT,
    MERGE,
    MERGED,
    MOVED,
    NEW_VERSION,
    PROPOSED,
    REPLACE,
    SKIPPED,
    UNCHANGED,
    UPDATED,
    ImportRequest,
    ImportResult,
)
from registry.core.text import merge_bundles
from registry.core.text.edits import Edit
from registry.models import Installation, Project, Provenance, Skill, Source, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor, is_protected, require, require_reach
from registry.services.proposals import proposals
from registry.services.proposals.prepare import CREATE, UPDATE, Suggestion
from registry.services.routing import publish_gate
from registry.services.scans import scans
from registry.services.skills import bundles, provenance, versions
from registry.services.sources import import_preview, source_entries
from registry.services.sources.import_preview import ImportPreview
from registry.services.sources.source_entries import FetchedSkill


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The effect of an import request. `bundle` is the next version, or None if the current skill stays."""

    preview: ImportPreview
    how: str
    bundle: Bundle | None = None
    gate_reason: str = ""


def import_skill(project: Project, source_id: int, request: ImportRequest, *, by: Actor) -> ImportResult:
    """Import or update one skill now, from the staged content or else from the source.

    A refused import is a result with its reason, not an exception.
    """
    require(by, roles.WRITE, project)
    source = source_entries.find(project, source_id, by=by)
    request, entry = request.validated(), source_entries.entry(source, request.name)
    fetched = source_entries.staged(entry, request.digest) or source_entries.fetch(source, entry)
    plan = prepare(source, fetched, request, by=by)
    return apply(plan, by=by) if isinstance(plan, ImportPlan) else plan


def prepare(source: Source, fetched: FetchedSkill, request: ImportRequest, *, by: Actor) -> ImportPlan | ImportResult:
    """Return the plan for a request, or the result if it is refused. Stores the files, but changes no skill."""
    name = fetched.entry.name
    if request.digest and request.digest != fetched.bundle.digest:
        reason = f"{name} changed in the source since your preview, to {fetched.bundle.digest}. Review it again."
        return ImportResult(name, MOVED, reason, digest=fetched.bundle.digest)
    asked = request.new_name or name
    require_reach(by, asked)
    preview = import_preview.compare(source, fetched, new_name=request.new_name)
    target = preview.target
    require_reach(by, target, shown=asked)
    new = request.new_name and preview.installed is None  # the skill with the old name is not affected
    if request.seen and request.seen != preview.seen and not new:
        return ImportResult(name, MOVED, f"Somebody saved {target} since your preview. Review it again.", skill=target)
    planned = _plan_import(preview, request) if preview.installed is None else _plan_update(preview, request)
    if isinstance(planned, ImportPlan):
        planned = replace(planned, gate_reason=request.gate_reason)
        if planned.bundle is not None and not is_protected(source.project_id):
            report = scans.fast(planned.bundle, preview.checked.parsed)
            scans.check(source.project, target, planned.bundle, report, by=by)
            reason = request.gate_reason
            publish_gate.check(source.project, target, planned.bundle[SKILL_MD], reason=reason, by=by)
        for bundle in (planned.bundle, preview.theirs):
            if bundle is not None:
                blobs.put(bundle, now=timezone.now())
    return planned


def _plan_import(preview: ImportPreview, request: ImportRequest) -> ImportPlan | ImportResult:
    if not preview.taken:
        return ImportPlan(preview, IMPORTED, preview.theirs)
    if request.on_conflict != NEW_VERSION:
        return ImportResult(preview.name, SKIPPED, _taken_reason(preview), skill=preview.target)
    own = preview.mine is not None and preview.mine.candidate.source != BUNDLED
    if own and preview.seen == preview.theirs.digest:
        return ImportPlan(preview, UNCHANGED)
    return ImportPlan(preview, IMPORTED, preview.theirs)


def _taken_reason(preview: ImportPreview) -> str:
    target = preview.target
    own = Skill.objects.filter(project=preview.project, name=target, overrides=True).first()
    other = provenance.installation_of(own) if own else None
    if own is None:
        owner = f"There is a built-in skill {target}, which this one would replace."
    elif other is not None:
        owner = f"The project already has a skill {target} from {other.source}."
    else:
        owner = f"The project already has its own skill {target}."
    return f"{owner} Skipped. Import it under another name, or as a new version of that skill."


def _plan_update(preview: ImportPreview, request: ImportRequest) -> ImportPlan | ImportResult:
    name, target = preview.name, preview.target
    if preview.action == import_preview.SAME:
        return ImportPlan(preview, UNCHANGED)
    if preview.action == import_preview.UPDATE:
        return ImportPlan(preview, UPDATED, preview.theirs)
    if request.if_edited == KEEP:
        return ImportPlan(preview, KEPT)
    if request.if_edited == REPLACE and request.seen == preview.seen:
        return ImportPlan(preview, UPDATED, preview.theirs)
    if request.if_edited == MERGE:
        return _plan_merge(preview, request)
    reason = f"{target} was edited here after the import. Nothing was saved. Keep the edit, replace it, or merge both."
    if request.if_edited == REPLACE:
        reason = f"{target} was edited here. To replace the edit, send its digest as seen: {preview.seen}."
    return ImportResult(name, EDITED, reason, skill=target, digest=preview.seen)


def _plan_merge(preview: ImportPreview, request: ImportRequest) -> ImportPlan | ImportResult:
    joined = preview.joined
    missing = [key for key in joined.keys if request.answers.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)]
    if missing:
        conflicts = "1 conflict" if len(missing) == 1 else f"{len(missing)} conflicts"
        files = ", ".join(file.path for file in joined.open)
        reason = f"Resolve {conflicts} between the source and your edits, in {files[:500]}. Nothing was saved."
        return ImportResult(preview.name, CONFLICTS, reason, skill=preview.target)
    if joined.keys and (not request.digest or not request.seen):
        reason = "Answers need the digests of the preview. Send digest and seen with them. Nothing was saved."
        return ImportResult(preview.name, MOVED, reason, skill=preview.target)
    result = Bundle(joined.files(request.answers))
    validated = bundles.check(result, authoring=False, directory=preview.target, project=preview.project)
    if validated.name != preview.target:
        reason = f"The merged SKILL.md is named {validated.name}, not {preview.target}. Nothing was saved."
        return ImportResult(preview.name, FAILED, reason, skill=preview.target)
    return ImportPlan(preview, KEPT) if result.digest == preview.seen else ImportPlan(preview, MERGED, result)


def apply(plan: ImportPlan, *, by: Actor) -> ImportResult:
    """Carry out a plan in one transaction, if the skill has not changed since it was made."""
    preview = plan.preview
    require(by, roles.WRITE, preview.project)
    try:
        with transaction.atomic():
            if plan.bundle is None:
                return _keep(plan, by=by)
            if is_protected(preview.project.pk):
                return _propose(plan, plan.bundle, by=by)
            return _store(plan, plan.bundle, by=by)
    except Stale as error:
        return ImportResult(preview.name, MOVED, error.message, skill=preview.target)


def _store(plan: ImportPlan, bundle: Bundle, *, by: Actor) -> ImportResult:
    preview = plan.preview
    with audit.change(preview.project, f"source.{plan.how}", by=by, target=preview.target) as change:
        _recheck(preview)
        skill, _ = Skill.objects.select_related("current", "project").get_or_create(
            project=preview.project, name=preview.target
        )
        before = skill.current if skill.overrides else None
        if preview.installed is None:
            provenance.forget(skill)
        version = _version(plan, skill, bundle, by=by, change=change)
        recorded = provenance.record(_provenance(plan, version=version), preview.theirs, by=by)
        provenance.attach(skill, recorded, before=before)
        _describe(change, plan)
    return ImportResult(preview.name, plan.how, "", skill.name, version.version, version.digest)


def _version(plan: ImportPlan, skill: Skill, bundle: Bundle, *, by: Actor, change: Change) -> Version:
    """Store the bundle under the version of the source if that is free, else under the next number."""
    fetched = plan.preview.fetched
    named = None if plan.how == MERGED else _version_name(fetched.version or plan.preview.checked.parsed.version or "")
    existing = Version.objects.filter(skill=skill, version=named).first() if named else None
    if existing is not None and existing.digest == bundle.digest:
        if existing.yanked_at is not None:
            raise Conflict(f"Version {named} of {skill.name} was withdrawn: {existing.yank_reason} Nothing was saved.")
        if not skill.overrides:
            versions.reactivate(skill, existing, gate_reason=plan.gate_reason, by=by, change=change)
            return existing
    said = skill_md.read(bundle[SKILL_MD], fallback_name=skill.name)
    note = f"{'Merged with' if plan.how == MERGED else 'From'} {plan.preview.source}"
    if fetched.version:
        note += f", version {fetched.version}"
    free = named if existing is None else None
    return versions.add(
        skill, bundle, said, named=free, note=note[: versions.NOTE_CHARS], gate_reason=plan.gate_reason, by=by,
        change=change,
    )  # fmt: skip


def _version_name(version: str) -> str | None:
    try:
        return paths.check_component(version, what="version") if version else None
    except SkillsiteError:
        return None


def _keep(plan: ImportPlan, *, by: Actor) -> ImportResult:
    """Keep the current skill and record the content of the source as the base of the next update."""
    preview = plan.preview
    with audit.change(preview.project, "source.kept", by=by, target=preview.target) as change:
        _recheck(preview)
        skill = Skill.objects.select_related("current").get(project=preview.project, name=preview.target)
        base = preview.installed.base if preview.installed else None
        if base is not None and base.digest == preview.theirs.digest:
            change.cancel()
            known = {"known_digest": preview.fetched.digest, "known_bundle": preview.digest}
            Installation.objects.filter(skill=skill).update(**known)
        else:
            provenance.attach(skill, provenance.record(_provenance(plan), preview.theirs, by=by), before=skill.current)
            change.before = change.after = preview.seen
            _describe(change, plan)
    version = skill.current.version if skill.current else ""
    return ImportResult(preview.name, plan.how, "", skill.name, version, preview.seen)


def _propose(plan: ImportPlan, bundle: Bundle, *, by: Actor) -> ImportResult:
    preview = plan.preview
    removed = {path: None for path in preview.before if path not in bundle}
    version = f", version {preview.fetched.version}" if preview.fetched.version else ""
    suggestion = Suggestion(
        preview.target,
        Edit({**removed, **bundle}),
        f"{'Merged with' if plan.how == MERGED else 'Imported from'} {preview.source.shown}: {preview.name}{version}",
        evidence=({"kind": "link", "text": preview.source.shown},),
        kind=UPDATE if preview.seen else CREATE,
        base_digest=preview.seen or None,
    )
    proposal = proposals.propose(preview.project, suggestion, by=by).proposal
    if not Provenance.objects.filter(proposal=proposal).exists():
        provenance.record(_provenance(plan, proposal=proposal), preview.theirs, by=by)
    reason = "Every change in this project is reviewed first."
    return ImportResult(preview.name, PROPOSED, reason, preview.target, "", proposal.result_digest, proposal.pk)


def _provenance(plan: ImportPlan, **more: object) -> Provenance:
    fetched, source = plan.preview.fetched, plan.preview.source
    return Provenance(
        source=source, name=fetched.entry.name, source_version=fetched.version, source_digest=fetched.digest,
        pin=_pin(plan), fetched_digest=fetched.bundle.digest, how=plan.how, **more,
    )  # fmt: skip


def _recheck(preview: ImportPreview) -> None:
    """Raise Stale if the skill or its base changed since the plan was made. Call inside the transaction."""
    standing = catalog.find(preview.project.pk, preview.target)
    digest = precedence.digest_of(standing)
    base = Installation.objects.standing().filter(source=preview.source, name=preview.name).values_list("base").first()
    planned = (preview.installed.base_id,) if preview.installed else None
    if digest != preview.seen or base != planned:
        raise Stale(f"{preview.target} changed meanwhile. Review it again. Nothing was saved.", digest=digest)
    if not Source.objects.filter(pk=preview.source.pk, removed_at=None).exists():
        raise NotFound("The source was removed meanwhile. Nothing was saved.")


def _describe(change: Change, plan: ImportPlan) -> None:
    fetched, source = plan.preview.fetched, plan.preview.source
    change.data["source"] = provenance.audit_data(source) | {
        "name": fetched.entry.name, "version": fetched.version, "digest": fetched.digest,
        "bundle": fetched.bundle.digest, "commit": _pin(plan),
    }  # fmt: skip


def _pin(plan: ImportPlan) -> str:
    """Return the commit of the files, or an empty string for content that was staged before the last check."""
    return plan.preview.source.pin if plan.preview.fetched.newest else ""
