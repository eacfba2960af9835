"""Updating a stale proposal to the current version of its skill, by a three-way merge.

A conflict needs a choice for each place. The result is a new revision that nobody has approved yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.core import roles
from registry.core.bundle import Bundle
from registry.core.errors import Conflict, InvalidRequest, SkillsiteError, StaleProposal
from registry.core.notifications import events
from registry.core.proposals.lifecycle import Action, State, Who
from registry.core.text import merge_bundles
from registry.core.text.merge_bundles import BundleMerge, FileMerge
from registry.models import Project, Proposal, ProposalRevision
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require
from registry.services.proposals import prepare, proposals
from registry.services.proposals.prepare import UPDATE, Prepared
from registry.services.skills import bundles, stale_proposals
from registry.services.skills.stale_proposals import DELETE

_REVISE = "The proposer has to revise it."


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """The current skill and its merge with the proposal. `joined` calls the current skill theirs, the proposal mine."""

    current: Bundle
    joined: BundleMerge


@dataclass(frozen=True, slots=True)
class RebasePreview:
    """The result of updating the proposal; or the reason why it cannot be updated, with any conflict."""

    prepared: Prepared | None
    reason: str = ""
    conflict: MergeConflict | None = None

    @property
    def conflicts(self) -> tuple[FileMerge, ...]:
        return self.conflict.joined.open if self.conflict else ()

    @property
    def joined(self) -> Bundle | None:
        """The merged bundle, with the proposed text in each conflict; None if there is nothing to merge."""
        if self.conflict is not None:
            return Bundle(self.conflict.joined.files({}))
        return self.prepared.result if self.prepared else None


@dataclass(frozen=True, slots=True)
class Choices:
    """The chosen side of each conflict, with the revision and the current digest that the choices were made for."""

    revision: int
    current_digest: str
    taken: Mapping[str, str] = field(default_factory=dict)


def preview(project: Project, proposal: Proposal, *, by: Actor) -> RebasePreview | None:
    """Return what updating a stale proposal gives; None if it is not stale or the agent cannot load the skill."""
    current_skill = catalog.find(project.pk, proposal.skill)
    if proposal.state != State.STALE or (current_skill is not None and not prepare.can_load(current_skill, by)):
        return None
    return _preview(project, proposal, proposals.current_revision(proposal))


def _preview(project: Project, proposal: Proposal, revision: ProposalRevision) -> RebasePreview:
    name, current_skill = proposal.skill, catalog.find(project.pk, proposal.skill)
    digest = stale_proposals.current_base(proposal.kind, current_skill)
    if digest is None or (proposal.base_digest and not digest):
        return RebasePreview(None, f"{name} no longer exists, so the change cannot be applied.")
    loaded = catalog.inspect(project, name)[1] if current_skill else None
    current = loaded.bundle() if loaded else None
    if proposal.kind == DELETE:
        return RebasePreview(Prepared(name, DELETE, current, digest, None))
    result = blobs.bundle(revision.result_manifest)
    if current is None:
        return RebasePreview(_prepared(proposal, proposal.kind, None, result))
    base = {entry.path: blobs.read(entry) for entry in revision.base_manifest}
    joined = merge_bundles.merge(base, current, result)
    if not joined.clean:
        return RebasePreview(None, _conflict_reason(name, joined.open), MergeConflict(current, joined))
    try:
        merged = Bundle(joined.settled)
        if merged.digest == current.digest:
            return RebasePreview(None, f"{name} already contains this change.")
        return RebasePreview(_prepared(proposal, UPDATE, current, merged))
    except SkillsiteError as error:
        return RebasePreview(None, f"After the update, {name} would break a rule. {error.message}")


def _prepared(proposal: Proposal, kind: str, current: Bundle | None, result: Bundle) -> Prepared:
    checked = bundles.check(result, authoring=True, directory=proposal.skill, project=proposal.project)
    return Prepared(proposal.skill, kind, current, current.digest if current else "", result, checked.findings)


def _conflict_reason(name: str, files: tuple[FileMerge, ...]) -> str:
    return f"The proposal and {name} changed the same lines of {', '.join(file.path for file in files)}."


def may_rebase(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    """Check the permission: for the proposer and for reviewers, and for an agent only if it can load the skill."""
    found = proposals.find(project, proposal_id, by=by)
    require(by, roles.PROPOSE if proposals.is_proposer(found, by) else roles.REVIEW, project)
    prepare.effective_skill(project, found.skill, by)
    return found


def rebase(project: Project, proposal_id: int, *, choices: Choices | None = None, by: Actor) -> Proposal:
    """Add a revision for the current version of the skill. Conflicts need `choices`."""
    found = may_rebase(project, proposal_id, by=by)
    who = Who.PROPOSER if proposals.is_proposer(found, by) else Who.REVIEWER
    stale_proposals.check_built_in(project)
    found = proposals.get(project, proposal_id)
    proposals.step(found, Action.REBASE, who)
    newest = proposals.current_revision(found)
    prepared = _required(_preview(project, found, newest), newest, choices)
    prepared.store()
    weight = prepare.assess(project, prepared)
    with audit.change(project, "proposal.rebased", by=by, target=found.skill) as change:
        proposal = proposals.get(project, proposal_id)
        proposal.state = proposals.step(proposal, Action.REBASE, who)
        if proposal.revision != newest.number:
            raise Conflict("The proposal was revised in the meantime. Review it again. Nothing was changed.")
        proposals.check_base(project, prepared)
        said, pieces = newest.justification, newest.evidence
        proposals.replace_revision(
            proposal, prepared, weight, how=proposals.REBASED, justification=said, evidence=pieces, by=by
        )
        if choices is not None:
            change.data["chosen"] = dict(choices.taken)
        proposals.describe(change, proposal)
        notifications.notify(events.REVISED, proposal, by=by)
    return proposal


def _required(preview: RebasePreview, newest: ProposalRevision, choices: Choices | None) -> Prepared:
    if preview.conflict is not None and choices is not None:
        return _chosen(newest, preview.conflict, choices)
    if preview.prepared is None:
        way_out = "Choose a side for each conflict, or let the proposer revise it." if preview.conflict else _REVISE
        files = [file.path for file in preview.conflicts]
        raise Conflict(f"{preview.reason} {way_out} Nothing was changed.", files=files)
    return preview.prepared


def _chosen(newest: ProposalRevision, conflict: MergeConflict, choices: Choices) -> Prepared:
    """Apply the choices. Raise StaleProposal if the skill or the proposal changed since they were made."""
    name = newest.proposal.skill
    if (choices.revision, choices.current_digest) != (newest.number, conflict.current.digest):
        raise StaleProposal(f"{name} or the proposal changed again. Choose again. Nothing was changed.")
    missing = [
        key for key in conflict.joined.keys if choices.taken.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)
    ]
    if missing:
        places = "1 place needs a choice" if len(missing) == 1 else f"{len(missing)} places need a choice"
        raise InvalidRequest(
            f"{places} between the current text and the proposal. Nothing was changed.", missing=missing
        )
    merged = Bundle(conflict.joined.files(choices.taken))
    if merged.digest == conflict.current.digest:
        raise InvalidRequest(f"With these choices {name} would not change. Reject or withdraw the proposal instead.")
    return _prepared(newest.proposal, UPDATE, conflict.current, merged)
