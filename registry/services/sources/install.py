"""Skills come from a source: imported, and updated without losing an edit.

Each is one transaction with one event. Where every change is reviewed it is a proposal instead.
"""

from dataclasses import dataclass

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
    Outcome,
    Wish,
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
from registry.services.skills import bundles, provenance, versions
from registry.services.sources import import_preview, source_entries
from registry.services.sources.import_preview import Arrival
from registry.services.sources.source_entries import Goods


@dataclass(frozen=True, slots=True)
class Plan:
    """What a wish comes to. `bundle` is the next version, None where the project's own skill stays as it is."""

    arrival: Arrival
    how: str
    bundle: Bundle | None = None


def bring(project: Project, source_id: int, wish: Wish, *, by: Actor) -> Outcome:
    """One skill now, for whoever waits for it: an import, or an update of what came before.

    What was put aside by the preview is taken; else the source is asked. A refusal is an outcome with its reason.
    """
    require(by, roles.WRITE, project)
    source = source_entries.find(project, source_id, by=by)
    wish, entry = wish.checked(), source_entries.entry(source, wish.name)
    goods = source_entries.staged(entry, wish.digest) or source_entries.fetch(source, entry)
    plan = prepare(source, goods, wish, by=by)
    return carry_out(plan, by=by) if isinstance(plan, Plan) else plan


def prepare(source: Source, goods: Goods, wish: Wish, *, by: Actor) -> Plan | Outcome:
    """What the wish would do, or why it cannot be; the files are stored, and no row is changed yet."""
    name = goods.entry.name
    if wish.digest and wish.digest != goods.bundle.digest:
        reason = f"The source has another {name} now than the one you looked at: {goods.bundle.digest}. Look again."
        return Outcome(name, MOVED, reason, digest=goods.bundle.digest)
    arrival = import_preview.compare(source, goods, new_name=wish.new_name)
    target = arrival.target
    require_reach(by, target)
    new = wish.new_name and arrival.installed is None  # whatever stands under the other name stays as it is
    if wish.seen and wish.seen != arrival.seen and not new:
        return Outcome(name, MOVED, f"{target} was saved by somebody since you looked. Look again.", skill=target)
    planned = _first(arrival, wish) if arrival.installed is None else _next(arrival, wish)
    if isinstance(planned, Plan):
        for bundle in (planned.bundle, arrival.theirs):
            if bundle is not None:
                blobs.put(bundle, now=timezone.now())
    return planned


def _first(arrival: Arrival, wish: Wish) -> Plan | Outcome:
    if not arrival.taken:
        return Plan(arrival, IMPORTED, arrival.theirs)
    if wish.on_conflict != NEW_VERSION:
        return Outcome(arrival.name, SKIPPED, _taken(arrival), skill=arrival.target)
    own = arrival.mine is not None and arrival.mine.candidate.source != BUNDLED
    if own and arrival.seen == arrival.theirs.digest:
        return Plan(arrival, UNCHANGED)
    return Plan(arrival, IMPORTED, arrival.theirs)


def _taken(arrival: Arrival) -> str:
    target = arrival.target
    own = Skill.objects.filter(project=arrival.project, name=target, overrides=True).first()
    other = provenance.of(own) if own else None
    if own is None:
        owner = f"There is a bundled skill {target}, which this one would hide."
    elif other is not None:
        owner = f"The project has a skill {target} already, which came from {other.source}."
    else:
        owner = f"The project has a skill {target} of its own already."
    return f"{owner} It was skipped. Import it under another name, or as a new version of that one."


def _next(arrival: Arrival, wish: Wish) -> Plan | Outcome:
    """An update of what came from the same place before."""
    name, target = arrival.name, arrival.target
    if arrival.action == import_preview.SAME:
        return Plan(arrival, UNCHANGED)
    if arrival.action == import_preview.UPDATE:
        return Plan(arrival, UPDATED, arrival.theirs)
    if wish.if_edited == KEEP:
        return Plan(arrival, KEPT)
    if wish.if_edited == REPLACE and wish.seen == arrival.seen:
        return Plan(arrival, UPDATED, arrival.theirs)
    if wish.if_edited == MERGE:
        return _merged(arrival, wish)
    reason = f"{target} was edited here since it came. Nothing was stored. Keep the edit, replace it, or merge the two."
    if wish.if_edited == REPLACE:
        reason = f"{target} was edited here. To replace the edit, say which one you saw: {arrival.seen}."
    return Outcome(name, EDITED, reason, skill=target, digest=arrival.seen)


def _merged(arrival: Arrival, wish: Wish) -> Plan | Outcome:
    joined = arrival.joined
    missing = [key for key in joined.keys if wish.answers.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)]
    if missing:
        places = "1 place needs" if len(missing) == 1 else f"{len(missing)} places need"
        files = ", ".join(file.path for file in joined.open)
        reason = f"{places} a choice between the source’s text and yours, in {files[:500]}. Nothing was stored."
        return Outcome(arrival.name, CONFLICTS, reason, skill=arrival.target)
    if joined.keys and (not wish.digest or not wish.seen):
        reason = "Answers belong to what was looked at: send digest and seen with them. Nothing was stored."
        return Outcome(arrival.name, MOVED, reason, skill=arrival.target)
    result = Bundle(joined.files(wish.answers))
    checked = bundles.check(result, authoring=False, directory=arrival.target)
    if checked.name != arrival.target:
        reason = f"The merged SKILL.md is named {checked.name}, not {arrival.target}. Nothing was stored."
        return Outcome(arrival.name, FAILED, reason, skill=arrival.target)
    return Plan(arrival, KEPT) if result.digest == arrival.seen else Plan(arrival, MERGED, result)


def carry_out(plan: Plan, *, by: Actor) -> Outcome:
    """Writes what was planned, if what it was planned for still stands. All of it, or nothing."""
    arrival = plan.arrival
    require(by, roles.WRITE, arrival.project)
    try:
        with transaction.atomic():
            if plan.bundle is None:
                return _keep(plan, by=by)
            if is_protected(arrival.project.pk):
                return _propose(plan, plan.bundle, by=by)
            return _store(plan, plan.bundle, by=by)
    except Stale as error:
        return Outcome(arrival.name, MOVED, error.message, skill=arrival.target)


def _store(plan: Plan, bundle: Bundle, *, by: Actor) -> Outcome:
    arrival = plan.arrival
    with audit.change(arrival.project, f"source.{plan.how}", by=by, target=arrival.target) as change:
        _recheck(arrival)
        skill, _ = Skill.objects.select_related("current", "project").get_or_create(
            project=arrival.project, name=arrival.target
        )
        before = skill.current if skill.overrides else None
        if arrival.installed is None:
            provenance.forget(skill)
        version = _version(plan, skill, bundle, by=by, change=change)
        came = provenance.record(_provenance(plan, version=version), arrival.theirs, by=by)
        provenance.attach(skill, came, before=before)
        _describe(change, plan)
    return Outcome(arrival.name, plan.how, "", skill.name, version.version, version.digest)


def _version(plan: Plan, skill: Skill, bundle: Bundle, *, by: Actor, change: Change) -> Version:
    """Under the version that the source names, where that is free; a merge and a taken one get the next number."""
    goods = plan.arrival.goods
    named = None if plan.how == MERGED else _usable(goods.version or plan.arrival.checked.said.version or "")
    found = Version.objects.filter(skill=skill, version=named).first() if named else None
    if found is not None and found.digest == bundle.digest:
        if found.yanked_at is not None:
            raise Conflict(f"Version {named} of {skill.name} was withdrawn: {found.yank_reason} Nothing was stored.")
        if not skill.overrides:
            versions.bring_back(skill, found, by=by, change=change)
            return found
    said = skill_md.read(bundle[SKILL_MD], fallback_name=skill.name)
    note = f"{'Merged with' if plan.how == MERGED else 'From'} {plan.arrival.source}"
    if goods.version:
        note += f", version {goods.version}"
    free = named if found is None else None
    return versions.add(skill, bundle, said, named=free, note=note[: versions.NOTE_CHARS], by=by, change=change)


def _usable(version: str) -> str | None:
    try:
        return paths.component(version, what="version") if version else None
    except SkillsiteError:
        return None


def _keep(plan: Plan, *, by: Actor) -> Outcome:
    """The project's own skill stays as it is, and the next update goes on from what the source has now."""
    arrival = plan.arrival
    with audit.change(arrival.project, "source.kept", by=by, target=arrival.target) as change:
        _recheck(arrival)
        skill = Skill.objects.select_related("current").get(project=arrival.project, name=arrival.target)
        base = arrival.installed.base if arrival.installed else None
        if base is not None and base.digest == arrival.theirs.digest:
            change.cancel()
            known = {"known_digest": arrival.goods.digest, "known_bundle": arrival.digest}
            Installation.objects.filter(skill=skill).update(**known)
        else:
            provenance.attach(skill, provenance.record(_provenance(plan), arrival.theirs, by=by), before=skill.current)
            change.before = change.after = arrival.seen
            _describe(change, plan)
    version = skill.current.version if skill.current else ""
    return Outcome(arrival.name, plan.how, "", skill.name, version, arrival.seen)


def _propose(plan: Plan, bundle: Bundle, *, by: Actor) -> Outcome:
    arrival = plan.arrival
    gone = {path: None for path in arrival.before if path not in bundle}
    said = f", version {arrival.goods.version}" if arrival.goods.version else ""
    suggestion = Suggestion(
        arrival.target,
        Edit({**gone, **bundle}),
        f"{'Merged with' if plan.how == MERGED else 'Imported from'} {arrival.source.shown}: {arrival.name}{said}",
        evidence=({"kind": "link", "text": arrival.source.shown},),
        kind=UPDATE if arrival.seen else CREATE,
        base_digest=arrival.seen or None,
    )
    made = proposals.propose(arrival.project, suggestion, by=by).proposal
    if not Provenance.objects.filter(proposal=made).exists():
        provenance.record(_provenance(plan, proposal=made), arrival.theirs, by=by)
    reason = "Every change of this project is reviewed first."
    return Outcome(arrival.name, PROPOSED, reason, arrival.target, "", made.result_digest, made.pk)


def _provenance(plan: Plan, **more: object) -> Provenance:
    goods, source = plan.arrival.goods, plan.arrival.source
    return Provenance(
        source=source, name=goods.entry.name, source_version=goods.version, source_digest=goods.digest,
        pin=_pin(plan), fetched_digest=goods.bundle.digest, how=plan.how, **more,
    )  # fmt: skip


def _recheck(arrival: Arrival) -> None:
    """Inside the transaction: what the plan was made for still stands."""
    standing = catalog.find(arrival.project.pk, arrival.target)
    digest = precedence.digest_of(standing)
    base = Installation.objects.standing().filter(source=arrival.source, name=arrival.name).values_list("base").first()
    planned = (arrival.installed.base_id,) if arrival.installed else None
    if digest != arrival.seen or base != planned:
        raise Stale(f"{arrival.target} was changed meanwhile. Look again. Nothing was stored.", digest=digest)
    if not Source.objects.filter(pk=arrival.source.pk, removed_at=None).exists():
        raise NotFound("The source was removed meanwhile. Nothing was stored.")


def _describe(change: Change, plan: Plan) -> None:
    goods, source = plan.arrival.goods, plan.arrival.source
    change.data["source"] = provenance.described(source) | {
        "name": goods.entry.name, "version": goods.version, "digest": goods.digest, "bundle": goods.bundle.digest,
        "commit": _pin(plan),
    }  # fmt: skip


def _pin(plan: Plan) -> str:
    """The commit that the files are of; not known for what was put aside before the last look."""
    return plan.arrival.source.pin if plan.arrival.goods.newest else ""
