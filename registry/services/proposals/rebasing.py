"""A stale proposal brought over to what stands now: by itself where nothing has to be guessed, else by choices.

Nobody has approved what comes out, so the reviewer looks again.
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

_REVISE = "Its proposer has to revise it."


@dataclass(frozen=True, slots=True)
class Clash:
    """What stands now, and how far the proposal fits it; `joined` calls what stands theirs, and the proposal mine."""

    current: Bundle
    joined: BundleMerge


@dataclass(frozen=True, slots=True)
class Offer:
    """What the proposal would become; or why it cannot be brought over, and where the two stand against each other."""

    prepared: Prepared | None
    reason: str = ""
    clash: Clash | None = None

    @property
    def clashes(self) -> tuple[FileMerge, ...]:
        return self.clash.joined.open if self.clash else ()

    @property
    def joined(self) -> Bundle | None:
        """All that fits, and the proposal where it does not; None where there is nothing to join it with."""
        if self.clash is not None:
            return Bundle(self.clash.joined.files({}))
        return self.prepared.result if self.prepared else None


@dataclass(frozen=True, slots=True)
class Choices:
    """What somebody took at each place, and what they looked at: which revision, and the digest that stood."""

    revision: int
    standing: str
    taken: Mapping[str, str] = field(default_factory=dict)


def offer(project: Project, proposal: Proposal, *, by: Actor) -> Offer | None:
    """For a stale proposal: what rebasing would make of it. None for any other, and for whoever may not see that."""
    standing = catalog.find(project.pk, proposal.skill)
    if proposal.state != State.STALE or (standing is not None and not prepare.can_load(standing, by)):
        return None
    return _worked_out(project, proposal, proposals.current_revision(proposal))


def _worked_out(project: Project, proposal: Proposal, revision: ProposalRevision) -> Offer:
    name, standing = proposal.skill, catalog.find(project.pk, proposal.skill)
    digest = stale_proposals.base_now(proposal.kind, standing)
    if digest is None or (proposal.base_digest and not digest):
        return Offer(None, f"{name} is gone, so there is nothing to bring the change over to.")
    loaded = catalog.inspect(project, name)[1] if standing else None
    current = loaded.bundle() if loaded else None
    if proposal.kind == DELETE:
        return Offer(Prepared(name, DELETE, current, digest, None))
    result = blobs.bundle(revision.result_manifest)
    if current is None:
        return Offer(_prepared(name, proposal.kind, None, result))
    base = {entry.path: blobs.read(entry) for entry in revision.base_manifest}
    joined = merge_bundles.merge(base, current, result)
    if not joined.clean:
        return Offer(None, _clash(name, joined.open), Clash(current, joined))
    try:
        merged = Bundle(joined.settled)
        if merged.digest == current.digest:
            return Offer(None, f"{name} has the change already, so nothing is left of the proposal.")
        return Offer(_prepared(name, UPDATE, current, merged))
    except SkillsiteError as error:
        return Offer(None, f"Brought over, {name} would break a rule. {error.message}")


def _prepared(name: str, kind: str, current: Bundle | None, result: Bundle) -> Prepared:
    checked = bundles.check(result, authoring=True, directory=name)
    return Prepared(name, kind, current, current.digest if current else "", result, checked.findings)


def _clash(name: str, files: tuple[FileMerge, ...]) -> str:
    return f"Both the proposal and {name} changed the same lines of {', '.join(file.path for file in files)}."


def may_rebase(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    """Permission alone: for its proposer and for reviewers. An agent is shown nothing that it cannot load."""
    found = proposals.find(project, proposal_id, by=by)
    require(by, roles.PROPOSE if proposals.is_proposer(found, by) else roles.REVIEW, project)
    prepare.standing_for(project, found.skill, by)
    return found


def rebase(project: Project, proposal_id: int, *, choices: Choices | None = None, by: Actor) -> Proposal:
    """A new revision with a new base and a new result: nobody has approved that one yet.

    Where both changed the same lines it takes `choices`, one for each place. The texts not taken stay on record.
    """
    found = may_rebase(project, proposal_id, by=by)
    who = Who.PROPOSER if proposals.is_proposer(found, by) else Who.REVIEWER
    stale_proposals.settle(project)
    found = proposals.get(project, proposal_id)
    proposals.step(found, Action.REBASE, who)
    newest = proposals.current_revision(found)
    prepared = _required(_worked_out(project, found, newest), newest, choices)
    prepared.store()
    weight = prepare.weighed(prepared)
    with audit.change(project, "proposal.rebased", by=by, target=found.skill) as change:
        proposal = proposals.get(project, proposal_id)
        proposal.state = proposals.step(proposal, Action.REBASE, who)
        if proposal.revision != newest.number:
            raise Conflict("The proposal was revised meanwhile. Look again. Nothing was changed.")
        proposals.check_base(project, prepared)
        said, pieces = newest.justification, newest.evidence
        proposals.renew(proposal, prepared, weight, how=proposals.REBASED, justification=said, evidence=pieces, by=by)
        if choices is not None:
            change.data["chosen"] = dict(choices.taken)
        proposals.describe(change, proposal)
        notifications.notify(events.REVISED, proposal, by=by)
    return proposal


def _required(offered: Offer, newest: ProposalRevision, choices: Choices | None) -> Prepared:
    if offered.clash is not None and choices is not None:
        return _chosen(newest, offered.clash, choices)
    if offered.prepared is None:
        way_out = "Choose at each place, or let its proposer revise it." if offered.clash else _REVISE
        files = [file.path for file in offered.clashes]
        raise Conflict(f"{offered.reason} {way_out} Nothing was changed.", files=files)
    return offered.prepared


def _chosen(newest: ProposalRevision, clash: Clash, choices: Choices) -> Prepared:
    """What the choices make, as long as they were made for what stands and what is proposed now."""
    name = newest.proposal.skill
    if (choices.revision, choices.standing) != (newest.number, clash.current.digest):
        raise StaleProposal(f"{name} or the proposal changed once more. Choose again. Nothing was changed.")
    missing = [
        key for key in clash.joined.keys if choices.taken.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)
    ]
    if missing:
        places = "1 place needs a choice" if len(missing) == 1 else f"{len(missing)} places need a choice"
        raise InvalidRequest(f"{places} between what stands and the proposal. Nothing was changed.", missing=missing)
    merged = Bundle(clash.joined.files(choices.taken))
    if merged.digest == clash.current.digest:
        raise InvalidRequest(f"With these choices {name} would stay as it is. Reject or withdraw the proposal instead.")
    return _prepared(name, UPDATE, clash.current, merged)
