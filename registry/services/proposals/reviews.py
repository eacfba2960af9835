"""What reviewers do with proposals. An approval lets through exactly the bytes that the reviewer saw."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import Bundle
from registry.core.catalog import prompt
from registry.core.catalog.precedence import BUNDLED, EffectiveSkill
from registry.core.errors import Conflict, Forbidden, InvalidRequest, StaleProposal
from registry.core.notifications import events
from registry.core.proposals.lifecycle import Action, Who
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.models import Agent, Backer, Project, Proposal, ProposalRevision, Recommendation, Skill, Version
from registry.models.proposals import BackerQuerySet
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.notifications import notifications
from registry.services.permissions import Actor, require, require_still
from registry.services.proposals import approvals, prepare, proposals
from registry.services.proposals.prepare import Prepared
from registry.services.skills import bundles, provenance, skills, stale_proposals
from registry.services.skills import versions as version_rows
from registry.services.skills.bundles import Checked
from registry.services.skills.stale_proposals import DELETE

VERDICTS = ("approve", "reject")


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is about to be let through: the revision that was looked at, and its checked result, edited or not."""

    revision: ProposalRevision
    checked: Checked | None
    edited: Prepared | None = None

    @property
    def digest(self) -> str:
        return self.checked.bundle.digest if self.checked else ""


def may_decide(project: Project, proposal_id: int, *, approving: bool = False, by: Actor) -> Proposal:
    """Permission alone, before anybody reads what was sent."""
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
        raise Forbidden("Proposals are decided by people.")
    return by.user_id


def _require_other(proposal: Proposal, by: Actor) -> None:
    if own_backers(by).filter(proposal=proposal).exists():
        raise Forbidden(
            "You can't approve your own proposal, or one by an agent or a person you made a token for. "
            "Ask another reviewer."
        )


def own_backers(by: Actor) -> BackerQuerySet:
    """Return the backers because of whom the actor may not approve a proposal."""
    return Backer.objects.barring([person for person in (by.user_id, by.maker_id) if person is not None])


def approve(
    project: Project,
    proposal_id: int,
    *,
    result_digest: str,
    base_digest: str | None = None,
    comment: str = "",
    edit: Edit | None = None,
    by: Actor,
) -> Proposal:
    """Lets a proposal through, as it is or with the reviewer's own edit of its result.

    `result_digest` is the one the reviewer saw, and so is `base_digest` where it is given: every deletion has the same
    result, and only what it deletes tells whether it was brought over to another text. What they send in `edit` is
    applied to the result, and the digest of what is then approved is recorded beside it.
    """
    found = may_decide(project, proposal_id, approving=True, by=by)
    comment = prepare.text(comment, what="comment", needed=False)
    stale_proposals.settle(project)
    found = proposals.get(project, proposal_id)
    proposals.step(found, Action.APPROVE, Who.REVIEWER)
    verdict = _looked_at(found, edit)
    with audit.change(project, "proposal.approved", by=by, target=found.skill) as change:
        require_still(by, roles.REVIEW, project)
        proposal = proposals.get(project, proposal_id)
        _require_other(proposal, by)
        proposed = proposal.result_digest
        standing = _recheck(proposal, verdict, result_digest, base_digest)
        if verdict.edited is not None:
            _record_edit(proposal, verdict.edited, verdict.revision, by)
        _decide(proposal, Action.APPROVE, comment, by)
        version = _apply(proposal, verdict, standing, by=by, change=change)
        approvals.record(proposal, version, digest=verdict.digest, proposed=proposed, by=_person(by))
        change.data.update(proposed=proposed, edited=verdict.edited is not None)
        proposals.describe(change, proposal)
        notifications.notify(events.APPROVED, proposal, text=comment, by=by)
    return proposals.get(project, proposal_id)


def _looked_at(proposal: Proposal, edit: Edit | None) -> _Verdict:
    """Reads and checks the result once more, and the edit of it, before the transaction."""
    revision = proposals.current_revision(proposal)
    if revision.kind == DELETE:
        if edit is not None:
            raise InvalidRequest("A proposal to delete a skill has nothing to edit. Nothing was changed.")
        return _Verdict(revision, None)
    result = blobs.bundle(revision.result_manifest)
    if edit is None:
        return _Verdict(revision, _checked(result, proposal.skill))
    checked = _checked(edits.apply(edit, result, name=proposal.skill, limits=settings.LIMITS), proposal.skill)
    if checked.bundle.digest == result.digest:
        return _Verdict(revision, checked)
    if checked.bundle.digest == revision.base_digest:
        raise InvalidRequest(f"With the edit {proposal.skill} would stay as it is. Reject the proposal instead.")
    base = blobs.bundle(revision.base_manifest) if revision.base_digest else None
    edited = Prepared(proposal.skill, revision.kind, base, revision.base_digest, checked.bundle, checked.findings)
    edited.store()
    return _Verdict(revision, checked, edited)


def _checked(result: Bundle, name: str) -> Checked:
    return bundles.check(result, authoring=True, directory=name)


def _recheck(
    proposal: Proposal, verdict: _Verdict, result_digest: str, base_digest: str | None
) -> EffectiveSkill | None:
    """Inside the transaction: state, result and base are what the reviewer saw. Returns what stands."""
    proposals.step(proposal, Action.APPROVE, Who.REVIEWER)
    if proposal.result_digest != result_digest or verdict.revision.number != proposal.revision:
        raise Conflict(
            f"The proposal was revised since you looked: its result is {proposal.result_digest or 'a deletion'} now. "
            "Look again. Nothing was changed.",
            result_digest=proposal.result_digest,
        )
    if base_digest is not None and proposal.base_digest != base_digest:
        raise Conflict(
            "The proposal was brought over to another text since you looked. Look again. Nothing was changed."
        )
    if verdict.edited is None and verdict.digest != result_digest:
        raise Conflict("The stored files of the proposal do not match its digest. Nothing was changed.")
    standing = catalog.find(proposal.project_id, proposal.skill)
    if stale_proposals.base_now(proposal.kind, standing) != proposal.base_digest:
        raise StaleProposal(f"{stale_proposals.moved(proposal, standing)} Nothing was changed.", state="stale")
    return standing


def _record_edit(proposal: Proposal, edited: Prepared, before: ProposalRevision, by: Actor) -> None:
    """The reviewer's text is a revision of its own, so that both it and what was proposed stay on record."""
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
    proposals.say(proposal, comment, action=action, by=by)


def _apply(
    proposal: Proposal, verdict: _Verdict, standing: EffectiveSkill | None, *, by: Actor, change: Change
) -> Version | None:
    """Inside the transaction: the approved result becomes what is served, or the project's own skill goes."""
    skill, _ = Skill.objects.select_related("current", "project").get_or_create(
        project=proposal.project, name=proposal.skill
    )
    if verdict.checked is None:
        skills.remove(skill, change=change, approved=True)
        return None
    before = skill.current if skill.overrides else None
    if before is None:
        provenance.forget(skill)
    if standing and standing.winner and standing.winner.source == BUNDLED:
        skills.set_upstream(skill, catalog.Loaded(standing.winner, verdict.revision.base_manifest))
    said = prompt.one_line(verdict.revision.justification)
    note = prompt.shorten(f"Proposal {proposal.pk}: {said}", version_rows.NOTE_CHARS)
    checked = verdict.checked
    version = version_rows.add(
        skill, checked.bundle, checked.parsed, named=None, note=note, by=by if verdict.edited else _proposer(proposal),
        change=change, approved=True,
    )  # fmt: skip
    provenance.install_approved(proposal, skill, version, before=before)
    return version


def _proposer(proposal: Proposal) -> Actor:
    """The version is theirs; that it was let through, and by whom, is in its approval."""
    kind = "agent" if proposal.agent_id is not None else "person"
    return Actor(kind, proposal.proposer, proposal.project_id, user_id=proposal.user_id, agent_id=proposal.agent_id)


def reject(project: Project, proposal_id: int, *, comment: str, by: Actor) -> Proposal:
    """Ends a proposal. Its text stays on record for people and reaches no agent but its proposer."""
    return _answer(project, proposal_id, Action.REJECT, events.REJECTED, comment, by)


def request_changes(project: Project, proposal_id: int, *, comment: str, by: Actor) -> Proposal:
    """Sends a proposal back with what is wrong about it."""
    return _answer(project, proposal_id, Action.REQUEST_CHANGES, events.CHANGES_REQUESTED, comment, by)


def _answer(project: Project, proposal_id: int, action: Action, verb: str, comment: str, by: Actor) -> Proposal:
    found = may_decide(project, proposal_id, by=by)
    comment = prepare.text(comment, what="comment")
    stale_proposals.settle(project)
    with audit.change(project, verb, by=by, target=found.skill) as change:
        require_still(by, roles.REVIEW, project)
        proposal = proposals.get(project, proposal_id)
        _decide(proposal, action, comment, by)
        proposals.describe(change, proposal)
        notifications.notify(verb, proposal, text=comment, by=by)
    return proposal


def recommend(project: Project, proposal_id: int, *, verdict: str, reason: str, by: Actor) -> Recommendation:
    """An agent's advice to the reviewers, where an owner allows it. A person decides."""
    found = may_recommend(project, proposal_id, by=by)
    reason = prepare.text(reason, what="reason")
    if verdict not in VERDICTS:
        raise InvalidRequest(f"A recommendation is one of {', '.join(VERDICTS)}; not {verdict!r}.")
    with audit.change(project, "proposal.recommended", by=by, target=found.skill) as change:
        may_recommend(project, proposal_id, by=by)
        proposal = proposals.get(project, proposal_id)
        action = Action.APPROVE if verdict == "approve" else Action.REJECT
        proposals.step(proposal, action, Who.REVIEWER)
        advice, _ = Recommendation.objects.update_or_create(
            proposal=proposal, agent=_adviser(by), revision=proposal.revision,
            defaults={"verdict": verdict, "reason": reason, "created_at": timezone.now()},
        )  # fmt: skip
        change.data["verdict"] = verdict
        proposals.describe(change, proposal)
    return advice


def may_recommend(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    require(by, roles.PROPOSE, project)
    adviser = _adviser(by)
    if not Project.objects.filter(pk=project.pk, reviewer_agents=True).exists():
        raise Forbidden("Agents advise reviewers only where an owner of the project has switched that on.")
    found = proposals.find(project, proposal_id, by=by)
    if found.backers.filter(agent=adviser).exists():
        raise Forbidden("An agent does not recommend its own proposal.")
    return found


def _adviser(by: Actor) -> Agent:
    if by.agent_id is None:
        raise Forbidden("Recommendations are for agents. People approve or reject.")
    return Agent.objects.get(pk=by.agent_id)
