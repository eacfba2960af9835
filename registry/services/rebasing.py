"""A stale proposal brought over to what stands now, where nothing has to be guessed. The reviewer looks again."""

from dataclasses import dataclass

from registry.core import joining, roles, telling
from registry.core.errors import Conflict, SkillsiteError
from registry.core.joining import FileMerge
from registry.core.lifecycle import Action, State, Who
from registry.core.skill import Bundle
from registry.models import Project, Proposal, ProposalRevision
from registry.services import audit, blobs, bundles, catalog, notices, overtaking, proposals, suggestions
from registry.services.overtaking import DELETE
from registry.services.permissions import Actor, require
from registry.services.suggestions import UPDATE, Prepared


@dataclass(frozen=True, slots=True)
class Offer:
    """What the proposal would become; or why it cannot be brought over, and the files that stand against it."""

    prepared: Prepared | None
    reason: str = ""
    clashes: tuple[FileMerge, ...] = ()


def offer(project: Project, proposal: Proposal) -> Offer | None:
    """For a stale proposal: what rebasing would make of it. None for any other."""
    if proposal.state != State.STALE:
        return None
    return _worked_out(project, proposal, proposals.current_revision(proposal))


def _worked_out(project: Project, proposal: Proposal, revision: ProposalRevision) -> Offer:
    name, standing = proposal.skill, catalog.find(project.pk, proposal.skill)
    digest = overtaking.base_now(proposal.kind, standing)
    if digest is None or (proposal.base_digest and not digest):
        return Offer(None, f"{name} is gone, so there is nothing to bring the change over to.")
    loaded = catalog.inspect(project, name)[1] if standing else None
    current = loaded.bundle() if loaded else None
    if proposal.kind == DELETE:
        return Offer(Prepared(name, DELETE, current, digest, None))
    result = blobs.bundle(revision.result_files)
    if current is None:
        return Offer(_prepared(name, proposal.kind, None, result))
    base = {entry.path: blobs.read(entry) for entry in revision.base_files}
    joined = joining.join(base, current, result)
    if not joined.clean:
        return Offer(None, _clash(name, joined.open), joined.open)
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


def rebase(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    """A new revision with a new base and a new result: nobody has approved that one yet."""
    found = proposals.find(project, proposal_id, by=by)
    who = Who.PROPOSER if proposals.is_proposer(found, by) else Who.REVIEWER
    require(by, roles.PROPOSE if who is Who.PROPOSER else roles.REVIEW, project)
    overtaking.settle(project)
    found = proposals.get(project, proposal_id)
    proposals.step(found, Action.REBASE, who)
    newest = proposals.current_revision(found)
    prepared = _required(_worked_out(project, found, newest))
    prepared.store()
    weight = suggestions.weighed(prepared)
    with audit.change(project, "proposal.rebased", by=by, target=found.skill) as change:
        proposal = proposals.get(project, proposal_id)
        proposal.state = proposals.step(proposal, Action.REBASE, who)
        if proposal.revision != newest.number:
            raise Conflict("The proposal was revised meanwhile. Look again. Nothing was changed.")
        proposals.check_base(project, prepared)
        said, pieces = newest.justification, newest.evidence
        proposals.renew(proposal, prepared, weight, how=proposals.REBASED, justification=said, evidence=pieces, by=by)
        proposals.describe(change, proposal)
        notices.about(telling.REVISED, proposal, by=by)
    return proposal


def _required(worked_out: Offer) -> Prepared:
    if worked_out.prepared is None:
        raise Conflict(
            f"{worked_out.reason} Its proposer has to revise it. Nothing was changed.",
            files=[file.path for file in worked_out.clashes],
        )
    return worked_out.prepared
