"""Answers about proposals."""

from typing import Annotated, Any, NotRequired, TypedDict

from registry.api.answers import finding_shapes
from registry.api.scans import ScanShape, scan_shape
from registry.core.findings import FindingShape
from registry.core.proposals.assessment import Assessment
from registry.core.proposals.capabilities import Capability
from registry.core.proposals.lifecycle import State
from registry.core.text.merge_bundles import FileMerge
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Approval, Proposal, ProposalComment, ProposalRevision, Recommendation
from registry.services.proposals.prepare import EVIDENCE_KINDS, KINDS
from registry.services.proposals.proposal_queries import Content, Dossier
from registry.services.proposals.proposals import Proposed
from registry.services.proposals.rebasing import RebasePreview


class AgentOrPersonShape(TypedDict):
    kind: Annotated[str, OneOf(("agent", "person"))]
    name: str


class DecisionShape(TypedDict):
    action: Annotated[str, OneOf(("approve", "reject", "request-changes"))]
    by: str
    at: Timestamp
    comment: str


class ApprovedShape(TypedDict):
    version: str | None
    digest: str | None
    proposed_digest: str | None
    edited: bool


class SummaryShape(TypedDict):
    id: int
    skill: str
    kind: Annotated[str, OneOf(KINDS)]
    state: Annotated[str, OneOf(tuple(map(str, State)))]
    reason: Annotated[str, "The reason why it is outdated."]
    base_digest: str | None
    result_digest: str | None
    revision: int
    proposer: AgentOrPersonShape
    run: str
    created_at: Timestamp
    updated_at: Timestamp
    decision: DecisionShape | None
    approved: ApprovedShape | None


class ProposalsPage(TypedDict):
    results: list[SummaryShape]
    next: str | None


class ProposedShape(SummaryShape):
    findings: list[FindingShape]


class EvidenceShape(TypedDict):
    kind: Annotated[str, OneOf(EVIDENCE_KINDS)]
    text: str


class ChangeShape(TypedDict):
    path: str
    status: Annotated[str, OneOf(("added", "removed", "changed", "renamed"))]
    binary: bool
    large: Annotated[bool, "Too long to compare line by line, so `diff` is empty."]
    diff: str


class CapabilityShape(TypedDict):
    kind: Annotated[str, OneOf(("script", "command", "host", "tool", "variable"))]
    name: str
    file: str
    line: int | None


class CapabilitiesShape(TypedDict):
    added: list[CapabilityShape]
    removed: list[CapabilityShape]
    changed: list[CapabilityShape]
    partial: bool


class CatalogLinesShape(TypedDict):
    before: str | None
    after: str | None
    tokens: int


class AssessmentShape(TypedDict):
    risk: Annotated[str, OneOf(("low", "medium", "high"))]
    reasons: list[str]
    findings_added: list[FindingShape]
    findings_removed: list[FindingShape]
    capabilities: CapabilitiesShape
    tokens: Annotated[int, "Additional tokens of each load. Negative if it costs less."]
    catalog: CatalogLinesShape


class CommentShape(TypedDict):
    id: int
    by: AgentOrPersonShape
    at: Timestamp
    revision: int
    action: str
    comment: str


class RevisionShape(TypedDict):
    number: int
    how: Annotated[str, OneOf(("proposed", "revised", "rebased", "edited"))]
    by: AgentOrPersonShape
    at: Timestamp
    base_digest: str | None
    result_digest: str | None


class RecommendationShape(TypedDict):
    agent: str
    revision: int
    verdict: Annotated[str, OneOf(("approve", "reject"))]
    reason: str
    at: Timestamp


class PlaceShape(TypedDict):
    key: str
    base: Annotated[str, "The text that the proposal started from."]
    now: str
    proposed: str


class FileConflictShape(TypedDict):
    path: str
    key: Annotated[str | None, "The key of the whole file, if one side removed it or it is not text."]
    places: list[PlaceShape]


class RebaseShape(TypedDict):
    possible: bool
    base_digest: str | None
    result_digest: str | None
    reason: str
    conflicts: Annotated[list[FileConflictShape], "The lines that both sides changed."]


class ProposalShape(SummaryShape):
    justification: str
    evidence: list[EvidenceShape]
    backers: list[AgentOrPersonShape]
    comments: list[CommentShape]
    revisions: list[RevisionShape]
    recommendations: list[RecommendationShape]
    rebase: RebaseShape | None
    changes: NotRequired[list[ChangeShape]]
    assessment: NotRequired[AssessmentShape]
    scan: NotRequired[Annotated[ScanShape | None, "The security scan of the result. Null for a deletion."]]


def summary_shape(proposal: Proposal) -> SummaryShape:
    approval: Approval | None = getattr(proposal, "approval", None)
    return {
        "id": proposal.pk,
        "skill": proposal.skill,
        "kind": proposal.kind,
        "state": proposal.state,
        "reason": proposal.state_reason,
        "base_digest": proposal.base_digest or None,
        "result_digest": proposal.result_digest or None,
        "revision": proposal.revision,
        "proposer": _agent_or_person(proposal),
        "run": proposal.run,
        "created_at": proposal.created_at.isoformat(),
        "updated_at": proposal.updated_at.isoformat(),
        "decision": _decision(proposal),
        "approved": _approved(approval) if approval else None,
    }


def _agent_or_person(row: Any) -> AgentOrPersonShape:
    return {
        "kind": "agent" if row.agent_id is not None else "person",
        "name": row.agent.name if row.agent_id is not None else row.user.display_name,
    }


def _decision(proposal: Proposal) -> DecisionShape | None:
    if not proposal.decision or proposal.decided_by is None or proposal.decided_at is None:
        return None
    return {
        "action": proposal.decision,
        "by": proposal.decided_by.display_name,
        "at": proposal.decided_at.isoformat(),
        "comment": proposal.decision_comment,
    }


def _approved(approval: Approval) -> ApprovedShape:
    return {
        "version": approval.version.version if approval.version else None,
        "digest": approval.digest or None,
        "proposed_digest": approval.proposed_digest or None,
        "edited": approval.edited,
    }


def proposed_shape(proposed: Proposed) -> ProposedShape:
    return {**summary_shape(proposed.proposal), "findings": finding_shapes(proposed.findings)}


def proposal_shape(dossier: Dossier) -> ProposalShape:
    body: ProposalShape = {
        **summary_shape(dossier.proposal),  # type: ignore[typeddict-item]  # a summary lacks the optional keys
        "justification": dossier.justification,
        "evidence": [{"kind": each["kind"], "text": each["text"]} for each in dossier.evidence],
        "backers": [_agent_or_person(backer) for backer in dossier.backers],
        "comments": [comment_shape(comment) for comment in dossier.comments],
        "revisions": [_revision(revision) for revision in dossier.revisions],
        "recommendations": [recommendation_shape(recommendation) for recommendation in dossier.recommendations],
        "rebase": _rebase(dossier.rebase) if dossier.rebase else None,
    }
    if dossier.content is not None:
        body["changes"] = _changes(dossier.content)
        body["assessment"] = _assessment(dossier.content.assessment)
        body["scan"] = scan_shape(dossier.scan) if dossier.scan else None
    return body


def _changes(content: Content) -> list[ChangeShape]:
    return [
        {
            "path": change.path,
            "status": change.status,
            "binary": change.binary,
            "large": change.large,
            "diff": change.patch,
        }
        for change in content.changes
    ]


def _assessment(assessment: Assessment) -> AssessmentShape:
    difference = assessment.capabilities
    return {
        "risk": assessment.risk,
        "reasons": list(assessment.reasons),
        "findings_added": finding_shapes(assessment.findings_added),
        "findings_removed": finding_shapes(assessment.findings_removed),
        "capabilities": {
            "added": [_capability(each) for each in difference.added],
            "removed": [_capability(each) for each in difference.removed],
            "changed": [_capability(each) for each in difference.changed],
            "partial": difference.partial,
        },
        "tokens": assessment.tokens,
        "catalog": {
            "before": assessment.before.line or None,
            "after": assessment.after.line or None,
            "tokens": assessment.catalog_tokens,
        },
    }


def _capability(capability: Capability) -> CapabilityShape:
    return {"kind": capability.kind, "name": capability.name, "file": capability.file, "line": capability.line}


def comment_shape(comment: ProposalComment) -> CommentShape:
    return {
        "id": comment.pk,
        "by": _agent_or_person(comment),
        "at": comment.created_at.isoformat(),
        "revision": comment.revision,
        "action": comment.action,
        "comment": comment.text,
    }


def _revision(revision: ProposalRevision) -> RevisionShape:
    return {
        "number": revision.number,
        "how": revision.how,
        "by": _agent_or_person(revision),
        "at": revision.created_at.isoformat(),
        "base_digest": revision.base_digest or None,
        "result_digest": revision.result_digest or None,
    }


def recommendation_shape(recommendation: Recommendation) -> RecommendationShape:
    return {
        "agent": recommendation.agent.name,
        "revision": recommendation.revision,
        "verdict": recommendation.verdict,
        "reason": recommendation.reason,
        "at": recommendation.created_at.isoformat(),
    }


def _rebase(offer: RebasePreview) -> RebaseShape:
    prepared, clash = offer.prepared, offer.conflict
    base = clash.current.digest if clash else prepared.base_digest if prepared else ""
    return {
        "possible": prepared is not None,
        "base_digest": base or None,
        "result_digest": (prepared.result_digest or None) if prepared else None,
        "reason": offer.reason,
        "conflicts": [_file_conflict(file) for file in offer.conflicts],
    }


def _file_conflict(file: FileMerge) -> FileConflictShape:
    places: list[PlaceShape] = [
        {"key": choice.key, "base": choice.block.base, "now": choice.block.theirs, "proposed": choice.block.mine}
        for choice in file.choices
    ]
    return {"path": file.path, "key": file.whole or None, "places": places}
