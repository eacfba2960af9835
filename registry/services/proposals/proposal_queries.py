"""One proposal with everything that its page and the API show."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from registry.core.bundle import Bundle
from registry.core.proposals.assessment import Assessment
from registry.core.text import diff
from registry.core.text.diff import FileChange
from registry.models import Backer, Project, Proposal, ProposalComment, ProposalRevision, Recommendation
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import prepare, proposals, rebasing
from registry.services.scans import scan_queries
from registry.services.scans.scan_queries import ScanDetails
from registry.services.skills import stale_proposals


@dataclass(frozen=True, slots=True)
class Content:
    """The skill before and after one revision. For a deletion, `after` is the built-in skill if there is one."""

    before: Bundle | None
    after: Bundle | None
    assessment: Assessment

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return tuple(each for each in diff.files(self.before or {}, self.after or {}) if each.status != "equal")


@dataclass(frozen=True, slots=True)
class Dossier:
    """A proposal with its content, history and discussion, as far as the actor can see them.

    `content` is None for an agent that only joined the proposal, which must not see the text of others, and for an
    agent that can no longer load the skill.
    """

    proposal: Proposal
    revision: ProposalRevision
    justification: str
    evidence: Sequence[dict[str, str]]
    content: Content | None
    comments: Sequence[ProposalComment]
    revisions: Sequence[ProposalRevision]
    recommendations: Sequence[Recommendation]
    backers: Sequence[Backer]
    rebase: rebasing.RebasePreview | None
    scan: ScanDetails | None


def details(project: Project, proposal_id: int, *, by: Actor) -> Dossier:
    stale_proposals.check_built_in(project)
    proposal = proposals.find(project, proposal_id, by=by)
    revision = proposals.current_revision(proposal)
    own = _backer(proposal, by)
    joined = own is not None and not proposals.is_proposer(proposal, by) and by.agent_id is not None
    return Dossier(
        proposal=proposal,
        revision=revision,
        justification=own.justification if joined and own else revision.justification,
        evidence=own.evidence if joined and own else revision.evidence,
        content=None if joined or not _can_load(project, proposal, by) else content(project, revision),
        comments=_thread(proposal, by),
        revisions=list(proposal.revisions.select_related("user", "agent").order_by("number")),
        recommendations=list(proposal.recommendations.select_related("agent").order_by("pk")),
        backers=list(proposal.backers.select_related("user", "agent").order_by("pk")),
        rebase=None if joined else rebasing.preview(project, proposal, by=by),
        scan=scan_queries.details(project, revision.result_digest) if revision.result_digest else None,
    )


def _backer(proposal: Proposal, by: Actor) -> Backer | None:
    who = Q(agent=by.agent_id) if by.agent_id is not None else Q(user=by.user_id or 0)
    return proposal.backers.filter(who).first()


def _can_load(project: Project, proposal: Proposal, by: Actor) -> bool:
    """Check the current skill, because a rebased proposal contains its text."""
    current = catalog.find(project.pk, proposal.skill)
    return current is None or prepare.can_load(current, by)


def _thread(proposal: Proposal, by: Actor) -> list[ProposalComment]:
    """Return the comments. An agent sees its own and those of people, because text of other agents is untrusted."""
    thread = proposal.comments.select_related("user", "agent").order_by("pk")
    return list(thread.filter(Q(agent=None) | Q(agent=by.agent_id)) if by.agent_id is not None else thread)


def content(project: Project, revision: ProposalRevision) -> Content:
    name = revision.proposal.skill
    before = blobs.bundle(revision.base_manifest) if revision.base_manifest else None
    after = blobs.bundle(revision.result_manifest) if revision.result_manifest else None
    after = prepare.result_for_agents(name, revision.kind, after)
    return Content(before, after, prepare.assess_change(project, before, after, name=name))
