"""Reviews of proposals. An approval publishes exactly the bytes that the reviewer saw."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog.precedence import BUNDLED, EffectiveSkill
from registry.core.errors import Conflict, Forbidden, InvalidRequest, StaleProposal
from registry.core.notifications import events
from registry.core.proposals.assessment import Assessment
from registry.core.proposals.lifecycle import Action, Who
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.core.text.shorten import one_line, shorten
from registry.models import Backer, Project, Proposal, ProposalRevision, Skill, Version
from registry.models.proposals import BackerQuerySet
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.permissions import Actor, is_protected, require, require_still
from registry.services.proposals import approval_records, prepare, proposals
from registry.services.proposals.prepare import Prepared
from registry.services.routing import publish_gate
from registry.services.skills import bundles, provenance, skills, stale_proposals
from registry.services.skills import versions as version_rows
from registry.services.skills.bundles import Checked
from registry.services.skills.stale_proposals import DELETE


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The revision that is about to be approved, and its checked result with the reviewer's edit, if any."""

    revision: ProposalRevision
    checked: Checked | None
    edited: Prepared | None = None
    weight: Assessment | None = None  # the assessment of the edit

    @property
    def digest(self) -> str:
        return self.checked.bundle.digest if self.checked else ""


def may_decide(project: Project, proposal_id: int, *, approving: bool = False, by: Actor) -> Proposal:
    """Check the permission before the body of the request is read."""
    require_reviewer(project, by=by)
    found = proposals.find(project, proposal_id, by=by)
    if approving:
        _require_other(found, by)
    return found


def require_reviewer(project: Project, *, by: Actor) -> None:
    require(by, roles.REVIEW, project)
    _person(by)


def _person(by: Actor) -> int:
    if by.user_id is None:
        raise Forbidden("Only people can decide about a proposal.")
    return by.user_id


def _require_other(proposal: Proposal, by: Actor) -> None:
    if own_backers(by).filter(proposal=proposal).exists():
        raise Forbidden(
            "You can’t approve your own proposal, or one by an agent or a person you made a token for. "
            "Ask another reviewer."
        )


def own_backers(by: Actor) -> BackerQuerySet:
    """Return the backers because of whom the actor may not approve a proposal."""
    return Backer.objects.barring(_people(by))


def is_of_own_agent(proposal: Proposal, by: Actor) -> bool:
    """Return whether the actor made a token of an agent that backs the proposal, whatever the project allows."""
    return Backer.objects.of_own_agents(_people(by)).filter(proposal=proposal).exists()


def _people(by: Actor) -> list[int]:
    return [person for person in (by.user_id, by.maker_id) if person is not None]


def approve(
    project: Project,
    proposal_id: int,
    *,
    result_digest: str,
    base_digest: str | None = None,
    comment: str = "",
    edit: Edit | None = None,
    gate_reason: str = "",
    by: Actor,
) -> Proposal:
    """Approve a proposal, as it is or with the reviewer's edit of its result.

    `result_digest` and `base_digest` are those that the reviewer saw. All deletions have the same result, so only the
    base tells that one was updated to another version. The approval records the digests before and after the edit.
    In a protected project, the edit becomes a revision that another reviewer has to approve. `gate_reason` is why the
    result is published although the routing gate refuses it.
    """
    found = may_decide(project, proposal_id, approving=True, by=by)
    comment = prepare.text(comment, what="comment", needed=False)
    stale_proposals.check_built_in(project)
    found = proposals.get(project, proposal_id)
    proposals.step(found, Action.APPROVE, Who.REVIEWER)
    verdict = _check(found, edit)
    if verdict.checked is not None and not (verdict.edited is not None and is_protected(project.pk)):
        _require_publishable(project, verdict, verdict.checked, gate_reason, by=by)
    with audit.change(project, "proposal.approved", by=by, target=found.skill) as change:
        require_still(by, roles.REVIEW, project)
        proposal = proposals.get(project, proposal_id)
        _require_other(proposal, by)
        current = _recheck(proposal, verdict, result_digest, base_digest)
        if verdict.edited is not None and verdict.weight is not None and is_protected(project.pk):
            _hand_over(proposal, verdict.edited, verdict.weight, verdict.revision, comment, by=by, change=change)
        else:
            _publish(proposal, verdict, current, comment, gate_reason=gate_reason, by=by, change=change)
    return proposals.get(project, proposal_id)


def _require_publishable(project: Project, verdict: _Verdict, checked: Checked, gate_reason: str, *, by: Actor) -> None:
    """Refuse before the transaction. The transaction checks the scan of a result that was not edited."""
    if verdict.edited is not None:
        bundles.require_publishable(project, checked, gate_reason=gate_reason, by=by)
    else:
        publish_gate.check(project, checked.name, checked.bundle[SKILL_MD], reason=gate_reason, by=by)


def _publish(
    proposal: Proposal,
    verdict: _Verdict,
    current: EffectiveSkill | None,
    comment: str,
    *,
    gate_reason: str,
    by: Actor,
    change: Change,
) -> None:
    proposed = _proposed_digest(proposal)
    if verdict.edited is not None:
        _record_edit(proposal, verdict.edited, verdict.revision, by)
    _decide(proposal, Action.APPROVE, comment, by)
    version = _apply(proposal, verdict, current, gate_reason=gate_reason, by=by, change=change)
    own_agent = is_of_own_agent(proposal, by)
    approval_records.record(
        proposal, version, digest=verdict.digest, proposed=proposed, own_agent=own_agent, by=_person(by)
    )
    change.data.update(proposed=proposed, edited=verdict.digest != proposed)
    if own_agent:
        change.data["own_agent"] = True
    proposals.describe(change, proposal)
    notifications.notify(events.APPROVED, proposal, text=comment, by=by)


def _proposed_digest(proposal: Proposal) -> str:
    """Return the digest of the last result that came from the proposer, if a reviewer edited it since."""
    edited = proposal.revisions.filter(how=proposals.EDITED).order_by("number").last()
    own = proposal.revisions.filter(how__in=(proposals.PROPOSED, proposals.REVISED)).order_by("number").last()
    return own.result_digest if own and edited and edited.number > own.number else proposal.result_digest


def _hand_over(
    proposal: Proposal,
    edited: Prepared,
    weight: Assessment,
    before: ProposalRevision,
    comment: str,
    *,
    by: Actor,
    change: Change,
) -> None:
    """Store the edit as a revision. The editor becomes a backer, so that somebody else has to approve it."""
    change.verb = events.REVISED
    proposals.replace_revision(
        proposal, edited, weight, how=proposals.EDITED, justification=before.justification, evidence=before.evidence,
        by=by,
    )  # fmt: skip
    Backer.objects.create(
        proposal=proposal, user_id=_person(by), through_id=by.maker_id, justification=comment or "Edited the proposal."
    )
    if comment:
        proposals.add_comment(proposal, comment, action="", by=by)
    change.data["edited"] = True
    proposals.describe(change, proposal)
    notifications.notify(events.REVISED, proposal, text=comment, by=by)


def _check(proposal: Proposal, edit: Edit | None) -> _Verdict:
    """Check the result and the edit before the transaction."""
    revision = proposals.current_revision(proposal)
    if revision.kind == DELETE:
        if edit is not None:
            raise InvalidRequest("A proposal to delete a skill has nothing to edit. Nothing was changed.")
        return _Verdict(revision, None)
    result = blobs.bundle(revision.result_manifest)
    if edit is None:
        return _Verdict(revision, _checked(result, proposal))
    checked = _checked(edits.apply(edit, result, name=proposal.skill, limits=settings.LIMITS), proposal)
    if checked.bundle.digest == result.digest:
        return _Verdict(revision, checked)
    if checked.bundle.digest == revision.base_digest:
        raise InvalidRequest(f"With this edit {proposal.skill} would not change. Reject the proposal instead.")
    base = blobs.bundle(revision.base_manifest) if revision.base_digest else None
    edited = Prepared(proposal.skill, revision.kind, base, revision.base_digest, checked.bundle, checked.findings)
    edited.store()
    return _Verdict(revision, checked, edited, prepare.assess(proposal.project, edited))


def _checked(result: Bundle, proposal: Proposal) -> Checked:
    return bundles.check(result, authoring=True, directory=proposal.skill, project=proposal.project)


def _recheck(
    proposal: Proposal, verdict: _Verdict, result_digest: str, base_digest: str | None
) -> EffectiveSkill | None:
    """Check inside the transaction that state, result and base are what the reviewer saw. Return the current skill."""
    proposals.step(proposal, Action.APPROVE, Who.REVIEWER)
    if proposal.result_digest != result_digest or verdict.revision.number != proposal.revision:
        raise Conflict(
            "The proposal was revised after you opened it. "
            f"Its result is now {proposal.result_digest or 'a deletion'}. Review it again. Nothing was changed.",
            result_digest=proposal.result_digest,
        )
    if base_digest is not None and proposal.base_digest != base_digest:
        raise Conflict(
            "The proposal was updated to another version after you opened it. Review it again. Nothing was changed."
        )
    if verdict.edited is None and verdict.digest != result_digest:
        raise Conflict("The stored files of the proposal do not match its digest. Nothing was changed.")
    current = catalog.find(proposal.project_id, proposal.skill)
    if stale_proposals.current_base(proposal.kind, current) != proposal.base_digest:
        raise StaleProposal(f"{stale_proposals.outdated_reason(proposal, current)} Nothing was changed.", state="stale")
    return current


def _record_edit(proposal: Proposal, edited: Prepared, before: ProposalRevision, by: Actor) -> None:
    """Store the reviewer's text as a revision, so that the history keeps it beside the proposed text."""
    proposal.revision += 1
    proposal.result_digest = edited.result_digest
    proposals.add_revision(
        proposal, edited, how=proposals.EDITED, justification=before.justification, evidence=before.evidence, by=by
    )


def _decide(proposal: Proposal, action: Action, comment: str, by: Actor) -> None:
    proposal.state = proposals.step(proposal, action, Who.REVIEWER)
    proposal.decision, proposal.decision_comment = action, comment
    proposal.decided_by_id, proposal.decided_at = by.user_id, timezone.now()
    proposal.updated_at = proposal.decided_at
    proposal.save()
    proposals.add_comment(proposal, comment, action=action, by=by)


def _apply(
    proposal: Proposal,
    verdict: _Verdict,
    current: EffectiveSkill | None,
    *,
    gate_reason: str,
    by: Actor,
    change: Change,
) -> Version | None:
    """Publish the approved result, or delete the project's skill."""
    skill, _ = Skill.objects.select_related("current", "project").get_or_create(
        project=proposal.project, name=proposal.skill
    )
    if verdict.checked is None:
        skills.remove(skill, change=change, approved=True)
        return None
    before = skill.current if skill.overrides else None
    if before is None:
        provenance.forget(skill)
    if current and current.winner and current.winner.source == BUNDLED:
        skills.set_upstream(skill, catalog.Loaded(current.winner, verdict.revision.base_manifest))
    reason = one_line(verdict.revision.justification)
    note = shorten(f"Proposal {proposal.pk}: {reason}", version_rows.NOTE_CHARS)
    checked = verdict.checked
    version = version_rows.add(
        skill, checked.bundle, checked.parsed, named=None, note=note, gate_reason=gate_reason,
        by=by if verdict.edited else _author(proposal, verdict.revision), change=change, approved=True,
    )  # fmt: skip
    provenance.install_approved(proposal, skill, version, before=before)
    return version


def _author(proposal: Proposal, revision: ProposalRevision) -> Actor:
    """Return the author of the version: the proposer, or the reviewer who edited it for somebody else to approve."""
    if revision.how == proposals.EDITED:
        return Actor("person", revision.by, proposal.project_id, user_id=revision.user_id)
    kind = "agent" if proposal.agent_id is not None else "person"
    return Actor(kind, proposal.proposer, proposal.project_id, user_id=proposal.user_id, agent_id=proposal.agent_id)


def reject(project: Project, proposal_id: int, *, comment: str, by: Actor) -> Proposal:
    """Close a proposal. People can still read its text; of the agents, only its proposer can."""
    return _decide_with_comment(project, proposal_id, Action.REJECT, events.REJECTED, comment, by)


def request_changes(project: Project, proposal_id: int, *, comment: str, by: Actor) -> Proposal:
    """Return a proposal to its proposer, with a comment."""
    return _decide_with_comment(project, proposal_id, Action.REQUEST_CHANGES, events.CHANGES_REQUESTED, comment, by)


def _decide_with_comment(
    project: Project, proposal_id: int, action: Action, verb: str, comment: str, by: Actor
) -> Proposal:
    found = may_decide(project, proposal_id, by=by)
    comment = prepare.text(comment, what="comment")
    stale_proposals.check_built_in(project)
    with audit.change(project, verb, by=by, target=found.skill) as change:
        require_still(by, roles.REVIEW, project)
        proposal = proposals.get(project, proposal_id)
        _decide(proposal, action, comment, by)
        proposals.describe(change, proposal)
        notifications.notify(verb, proposal, text=comment, by=by)
    return proposal
