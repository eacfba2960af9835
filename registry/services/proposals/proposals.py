"""Proposals from the side of their proposers: propose, revise, withdraw, comment and list.

Nothing here changes what agents get; only `reviews.approve` does.
"""

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from registry.core import roles
from registry.core.catalog import precedence
from registry.core.catalog.visibility import visible as agent_reach
from registry.core.errors import Conflict, Forbidden, NotFound, StaleProposal
from registry.core.findings import Finding
from registry.core.notifications import events
from registry.core.proposals import lifecycle
from registry.core.proposals.assessment import Assessment
from registry.core.proposals.lifecycle import Action, State, Who
from registry.models import Agent, Backer, Project, Proposal, ProposalComment, ProposalRevision, Skill
from registry.models.proposals import ProposalQuerySet
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import catalog
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require
from registry.services.proposals import limits, prepare
from registry.services.proposals.prepare import Prepared, Suggestion
from registry.services.scans import scans
from registry.services.skills import stale_proposals

PROPOSED, REVISED, REBASED, EDITED = "proposed", "revised", "rebased", "edited"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A stored proposal. `joined` means that an equal one was waiting, and the proposer was added to it."""

    proposal: Proposal
    joined: bool
    findings: tuple[Finding, ...]

    @property
    def message(self) -> str:
        """A confirmation for the proposer."""
        if self.joined:
            return f"The same change is already waiting as proposal {self.proposal.pk}. You were added to it."
        return f"Proposal {self.proposal.pk} is waiting for review. Agents get it after a reviewer approves it."


def propose(project: Project, suggestion: Suggestion, *, by: Actor) -> Proposed:
    """Store a new proposal, or add the proposer to an equal one that is waiting."""
    require(by, roles.PROPOSE, project)
    prepare.require_proposer_identity(by)
    limits.check_hour(project, by=by)
    justification = prepare.text(suggestion.justification, what="justification")
    run = prepare.text(suggestion.run, what="run", most=prepare.RUN_CHARS, needed=False)
    prepared = prepare.prepare(project, suggestion, by=by)
    prepared.store()
    weight = prepare.assess(project, prepared)
    with audit.change(project, "proposal.opened", by=by, target=prepared.name) as change:
        check_base(project, prepared)
        waiting = Proposal.objects.undecided().filter(project=project, **prepared.key).first()
        voice = Backer(
            user_id=by.user_id, agent_id=by.agent_id, through_id=by.maker_id, justification=justification,
            evidence=list(suggestion.evidence), run=run,
        )  # fmt: skip
        if waiting is not None:
            _join(waiting, voice, change)
            return Proposed(waiting, True, prepared.findings)
        limits.check_open(project, by=by)
        limits.check_hour(project, by=by)
        proposal = Proposal.objects.create(
            project=project, run=run, user_id=by.user_id, agent_id=by.agent_id, risk=weight.risk, tokens=weight.tokens,
            **prepared.key,
        )  # fmt: skip
        voice.proposal = proposal
        voice.save(force_insert=True)
        add_revision(proposal, prepared, how=PROPOSED, justification=justification, evidence=voice.evidence, by=by)
        describe(change, proposal)
        notifications.notify(events.OPENED, proposal, text=justification, by=by)
    return Proposed(proposal, False, prepared.findings)


def check_base(project: Project, prepared: Prepared) -> None:
    """Check inside the transaction that the skill has not changed since the suggestion was prepared."""
    digest = stale_proposals.current_base(prepared.kind, catalog.find(project.pk, prepared.name))
    if digest != prepared.base_digest:
        raise StaleProposal(
            f"{prepared.name} changed to {digest or 'deleted'} while the proposal was checked. Try again. "
            "Nothing was saved.",
            digest=digest or "",
        )


def _join(waiting: Proposal, voice: Backer, change: Change) -> None:
    known = {"user": voice.user_id} if voice.user_id is not None else {"agent": voice.agent_id}
    if waiting.backers.filter(**known).exists():
        change.cancel()
        return
    voice.proposal = waiting
    voice.save(force_insert=True)
    change.verb = "proposal.joined"
    describe(change, waiting)


def add_revision(
    proposal: Proposal, prepared: Prepared, *, how: str, justification: str, evidence: list[Any], by: Actor
) -> ProposalRevision:
    """Store a revision beside the earlier ones, with the scan of its result."""
    if prepared.result is not None:
        report = scans.fast_report(prepared.findings)
        scans.record(proposal.project, prepared.name, prepared.result_digest, report)
    return ProposalRevision.objects.create(
        proposal=proposal,
        number=proposal.revision,
        how=how,
        kind=prepared.kind,
        base_digest=prepared.base_digest,
        base_manifest=prepared.base.manifest if prepared.base else (),
        result_digest=prepared.result_digest,
        result_manifest=prepared.result.manifest if prepared.result else (),
        justification=justification,
        evidence=evidence,
        user_id=by.user_id,
        agent_id=by.agent_id,
    )


def describe(change: Change, proposal: Proposal) -> None:
    """Fill in the audit event of a proposal. Its digests are equal if agents get the same as before."""
    change.data.update(
        proposal=proposal.pk,
        revision=proposal.revision,
        kind=proposal.kind,
        base=proposal.base_digest,
        result=proposal.result_digest,
    )
    if not change.before and not change.after:
        standing = catalog.find(proposal.project_id, proposal.skill)
        change.before = change.after = precedence.digest_of(standing)


def replace_revision(
    proposal: Proposal,
    prepared: Prepared,
    weight: Assessment,
    *,
    how: str,
    justification: str,
    evidence: list[Any],
    by: Actor,
) -> None:
    """Store the next revision, update the proposal's copy of it, and clear the last decision."""
    equal = Proposal.objects.undecided().filter(project=proposal.project_id, **prepared.key).exclude(pk=proposal.pk)
    if other := equal.first():
        raise Conflict(f"Proposal {other.pk} proposes the same change. Nothing was saved.", proposal=other.pk)
    proposal.revision += 1
    proposal.kind, proposal.base_digest = prepared.kind, prepared.base_digest
    proposal.result_digest, proposal.state_reason = prepared.result_digest, ""
    proposal.risk, proposal.tokens = weight.risk, weight.tokens
    proposal.decision = proposal.decision_comment = ""
    proposal.decided_by = proposal.decided_at = None
    proposal.updated_at = timezone.now()
    proposal.save()
    add_revision(proposal, prepared, how=how, justification=justification, evidence=evidence, by=by)


def revise(project: Project, proposal_id: int, suggestion: Suggestion, *, by: Actor) -> Proposed:
    """Store a new revision for the current version of the skill. An empty justification keeps the old one."""
    found = require_proposer(project, proposal_id, by=by)
    step(found, Action.REVISE, Who.PROPOSER)
    limits.check_hour(project, by=by)
    stale_proposals.check_built_in(project)
    prepared = prepare.prepare(project, suggestion, by=by)
    prepared.store()
    weight = prepare.assess(project, prepared)
    with audit.change(project, "proposal.revised", by=by, target=found.skill) as change:
        limits.check_hour(project, by=by)
        proposal = get(project, proposal_id)
        newest = current_revision(proposal)
        justification = prepare.text(suggestion.justification or newest.justification, what="justification")
        proposal.state = step(proposal, Action.REVISE, Who.PROPOSER)
        check_base(project, prepared)
        if (newest.result_digest, newest.base_digest) == (prepared.result_digest, prepared.base_digest):
            raise Conflict("The revision is equal to the one before. Nothing was saved.")
        pieces = list(suggestion.evidence) or newest.evidence
        replace_revision(proposal, prepared, weight, how=REVISED, justification=justification, evidence=pieces, by=by)
        describe(change, proposal)
        notifications.notify(events.REVISED, proposal, text=justification, by=by)
    return Proposed(proposal, False, prepared.findings)


def withdraw(project: Project, proposal_id: int, *, comment: str = "", by: Actor) -> Proposal:
    found = require_proposer(project, proposal_id, by=by)
    comment = prepare.text(comment, what="comment", needed=False)
    with audit.change(project, "proposal.withdrawn", by=by, target=found.skill) as change:
        proposal = get(project, proposal_id)
        proposal.state = step(proposal, Action.WITHDRAW, Who.PROPOSER)
        proposal.updated_at = timezone.now()
        proposal.save(update_fields=["state", "updated_at"])
        add_comment(proposal, comment, action=Action.WITHDRAW, by=by)
        describe(change, proposal)
        notifications.notify(events.WITHDRAWN, proposal, text=comment, by=by)
    return proposal


def comment(project: Project, proposal_id: int, text: str, *, by: Actor) -> ProposalComment:
    """Add a comment. Everyone who can see the proposal may comment, also after it is closed."""
    found = find(project, proposal_id, by=by)
    text = prepare.text(text, what="comment")
    with audit.change(project, "proposal.commented", by=by, target=found.skill) as change:
        limits.check_comments(project, by=by)
        added = add_comment(get(project, proposal_id), text, action="", by=by)
        describe(change, found)
        notifications.notify(events.COMMENTED, found, text=text, by=by)
    return added


def add_comment(proposal: Proposal, text: str, *, action: str, by: Actor) -> ProposalComment:
    return ProposalComment.objects.create(
        proposal=proposal,
        revision=proposal.revision,
        action=action,
        text=text,
        user_id=by.user_id,
        agent_id=by.agent_id,
    )


def step(proposal: Proposal, action: Action, who: Who) -> State:
    return lifecycle.step(State(proposal.state), action, who, reason=proposal.state_reason)


def visible(project: Project, *, by: Actor) -> ProposalQuerySet:
    """Return the proposals that the actor can see: all for reviewers, their own for others.

    If the project lets agents advise reviewers, an agent also sees all proposals for skills that it can load.
    """
    require(by, roles.REVIEW if by.may(roles.REVIEW) else roles.PROPOSE, project)
    every = Proposal.objects.filter(project=project)
    if by.may(roles.REVIEW):
        return every
    own = every.backed_by(user_id=by.user_id, agent_id=by.agent_id)
    if by.agent_id is None:
        return own
    adviser = Agent.objects.filter(pk=by.agent_id, project__reviewer_agents=True).first()
    return own | _to_advise(every, project, adviser) if adviser is not None else own


def _to_advise(every: ProposalQuerySet, project: Project, adviser: Agent) -> ProposalQuerySet:
    """Filter for skills that the adviser can load, because a proposal shows the text of its skill."""
    shown = every.exclude(skill__in=Skill.objects.filter(project=project, enabled=False).values("name"))
    reach = agent_reach(adviser.allowed_skills, adviser.uses_skills)
    return shown if reach is None else shown.filter(skill__in=reach)


def list_proposals(
    project: Project, *, state: str = "", skill: str = "", mine: bool | None = None, by: Actor
) -> ProposalQuerySet:
    """List proposals, newest first. By default people get all they can see, and agents their own."""
    shown = visible(project, by=by)
    stale_proposals.check_built_in(project)
    if mine or (mine is None and by.agent_id is not None):
        shown = shown.backed_by(user_id=by.user_id, agent_id=by.agent_id)
    if state:
        shown = shown.filter(state=state)
    if skill:
        shown = shown.filter(skill=skill)
    return shown.for_list()


def find(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    """Return a proposal that the actor can see. Raise NotFound for any other."""
    found = visible(project, by=by).for_list().filter(pk=proposal_id).first()
    if found is None:
        raise NotFound("This proposal does not exist.")
    return found


def get(project: Project, proposal_id: int) -> Proposal:
    """Read the row inside the transaction."""
    return Proposal.objects.for_list().get(project=project, pk=proposal_id)


def current_revision(proposal: Proposal) -> ProposalRevision:
    return proposal.revisions.get(number=proposal.revision)


def is_proposer(proposal: Proposal, by: Actor) -> bool:
    if by.agent_id is not None:
        return proposal.agent_id == by.agent_id
    return by.user_id is not None and proposal.user_id == by.user_id


def require_proposer(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    require(by, roles.PROPOSE, project)
    found = find(project, proposal_id, by=by)
    if not is_proposer(found, by):
        raise Forbidden("Only the proposer can revise or withdraw a proposal.")
    return found
