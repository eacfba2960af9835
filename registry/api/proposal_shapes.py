"""The shapes of proposals in answers."""

from typing import Any

from rest_framework import serializers

from registry.api.shapes import FindingShape
from registry.core.proposals.assessment import Assessment
from registry.core.proposals.capabilities import Capability
from registry.core.proposals.lifecycle import State
from registry.core.text.merge_bundles import FileMerge
from registry.models import Approval, Proposal, ProposalComment, ProposalRevision, Recommendation
from registry.services.proposals.prepare import KINDS
from registry.services.proposals.proposal_queries import Content, Dossier
from registry.services.proposals.proposals import Proposed
from registry.services.proposals.rebasing import Offer


class WhoShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["agent", "person"])
    name = serializers.CharField()


class DecisionShape(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=["approve", "reject", "request-changes"])
    by = serializers.CharField()
    at = serializers.DateTimeField()
    comment = serializers.CharField(allow_blank=True)


class ApprovedShape(serializers.Serializer[Any]):
    version = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    proposed_digest = serializers.CharField(allow_null=True)
    edited = serializers.BooleanField()


class SummaryShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    skill = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    state = serializers.ChoiceField(choices=[str(state) for state in State])
    reason = serializers.CharField(allow_blank=True, help_text="Why it is stale.")
    base_digest = serializers.CharField(allow_null=True)
    result_digest = serializers.CharField(allow_null=True)
    revision = serializers.IntegerField()
    proposer = WhoShape()
    run = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    decision = DecisionShape(allow_null=True)
    approved = ApprovedShape(allow_null=True)


class ProposalsPage(serializers.Serializer[Any]):
    results = SummaryShape(many=True)
    next = serializers.CharField(allow_null=True)


class ProposedShape(SummaryShape):
    findings = FindingShape(many=True)


class EvidenceShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["text", "link", "log"])
    text = serializers.CharField()


class ChangeShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    status = serializers.ChoiceField(choices=["added", "removed", "changed", "renamed"])
    binary = serializers.BooleanField()
    diff = serializers.CharField(allow_blank=True)


class CapabilityShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["script", "command", "host", "tool", "variable"])
    name = serializers.CharField()
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)


class CapabilitiesShape(serializers.Serializer[Any]):
    added = CapabilityShape(many=True)
    removed = CapabilityShape(many=True)
    changed = CapabilityShape(many=True)
    partial = serializers.BooleanField()  # type: ignore[assignment]  # DRF's own attribute of that name is another


class CatalogLinesShape(serializers.Serializer[Any]):
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)
    tokens = serializers.IntegerField()


class AssessmentShape(serializers.Serializer[Any]):
    risk = serializers.ChoiceField(choices=["low", "medium", "high"])
    reasons = serializers.ListField(child=serializers.CharField())
    findings_added = FindingShape(many=True)
    findings_removed = FindingShape(many=True)
    capabilities = CapabilitiesShape()
    tokens = serializers.IntegerField(help_text="How many more each load costs.")
    catalog = CatalogLinesShape()


class CommentShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    by = WhoShape()
    at = serializers.DateTimeField()
    revision = serializers.IntegerField()
    action = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)


class RevisionShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    how = serializers.ChoiceField(choices=["proposed", "revised", "rebased", "edited"])
    by = WhoShape()
    at = serializers.DateTimeField()
    base_digest = serializers.CharField(allow_null=True)
    result_digest = serializers.CharField(allow_null=True)


class RecommendationShape(serializers.Serializer[Any]):
    agent = serializers.CharField()
    revision = serializers.IntegerField()
    verdict = serializers.ChoiceField(choices=["approve", "reject"])
    reason = serializers.CharField()
    at = serializers.DateTimeField()


class PlaceShape(serializers.Serializer[Any]):
    key = serializers.CharField()
    base = serializers.CharField(allow_blank=True, help_text="What the proposal was made from.")
    now = serializers.CharField(allow_blank=True)
    proposed = serializers.CharField(allow_blank=True)


class ClashShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    key = serializers.CharField(
        allow_null=True, help_text="Of the whole file, where one side removed it or where it is no text."
    )
    places = PlaceShape(many=True)


class RebaseShape(serializers.Serializer[Any]):
    possible = serializers.BooleanField()
    base_digest = serializers.CharField(allow_null=True)
    result_digest = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    conflicts = ClashShape(many=True, help_text="Where both changed the same lines.")


class ProposalShape(SummaryShape):
    justification = serializers.CharField()
    evidence = EvidenceShape(many=True)
    backers = WhoShape(many=True)
    changes = ChangeShape(many=True, required=False)
    assessment = AssessmentShape(required=False)
    comments = CommentShape(many=True)
    revisions = RevisionShape(many=True)
    recommendations = RecommendationShape(many=True)
    rebase = RebaseShape(allow_null=True)


def summary(proposal: Proposal) -> dict[str, Any]:
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
        "proposer": _who(proposal),
        "run": proposal.run,
        "created_at": proposal.created_at.isoformat(),
        "updated_at": proposal.updated_at.isoformat(),
        "decision": _decision(proposal),
        "approved": _approved(approval) if approval else None,
    }


def _who(row: Any) -> dict[str, str]:
    return {
        "kind": "agent" if row.agent_id is not None else "person",
        "name": row.agent.name if row.agent_id is not None else row.user.display_name,
    }


def _decision(proposal: Proposal) -> dict[str, Any] | None:
    if not proposal.decision or proposal.decided_by is None or proposal.decided_at is None:
        return None
    return {
        "action": proposal.decision,
        "by": proposal.decided_by.display_name,
        "at": proposal.decided_at.isoformat(),
        "comment": proposal.decision_comment,
    }


def _approved(approval: Approval) -> dict[str, Any]:
    return {
        "version": approval.version.version if approval.version else None,
        "digest": approval.digest or None,
        "proposed_digest": approval.proposed_digest or None,
        "edited": approval.edited,
    }


def proposed(made: Proposed) -> dict[str, Any]:
    return {**summary(made.proposal), "findings": [finding.as_json() for finding in made.findings]}


def whole(dossier: Dossier) -> dict[str, Any]:
    body = {
        **summary(dossier.proposal),
        "justification": dossier.justification,
        "evidence": list(dossier.evidence),
        "backers": [_who(backer) for backer in dossier.backers],
        "comments": [comment(said) for said in dossier.comments],
        "revisions": [_revision(revision) for revision in dossier.revisions],
        "recommendations": [recommendation(advice) for advice in dossier.recommendations],
        "rebase": _rebase(dossier.offer) if dossier.offer else None,
    }
    if dossier.content is not None:
        body["changes"] = _changes(dossier.content)
        body["assessment"] = _assessment(dossier.content.assessment)
    return body


def _changes(content: Content) -> list[dict[str, Any]]:
    return [
        {"path": change.path, "status": change.status, "binary": change.binary, "diff": content.patch(change)}
        for change in content.changes
    ]


def _assessment(found: Assessment) -> dict[str, Any]:
    difference = found.capabilities
    return {
        "risk": found.risk,
        "reasons": list(found.reasons),
        "findings_added": [finding.as_json() for finding in found.findings_added],
        "findings_removed": [finding.as_json() for finding in found.findings_removed],
        "capabilities": {
            "added": [_capability(each) for each in difference.added],
            "removed": [_capability(each) for each in difference.removed],
            "changed": [_capability(each) for each in difference.changed],
            "partial": difference.partial,
        },
        "tokens": found.tokens,
        "catalog": {
            "before": found.before.line or None,
            "after": found.after.line or None,
            "tokens": found.catalog_tokens,
        },
    }


def _capability(found: Capability) -> dict[str, Any]:
    return {"kind": found.kind, "name": found.name, "file": found.file, "line": found.line}


def comment(said: ProposalComment) -> dict[str, Any]:
    return {
        "id": said.pk,
        "by": _who(said),
        "at": said.created_at.isoformat(),
        "revision": said.revision,
        "action": said.action,
        "comment": said.text,
    }


def _revision(revision: ProposalRevision) -> dict[str, Any]:
    return {
        "number": revision.number,
        "how": revision.how,
        "by": _who(revision),
        "at": revision.created_at.isoformat(),
        "base_digest": revision.base_digest or None,
        "result_digest": revision.result_digest or None,
    }


def recommendation(advice: Recommendation) -> dict[str, Any]:
    return {
        "agent": advice.agent.name,
        "revision": advice.revision,
        "verdict": advice.verdict,
        "reason": advice.reason,
        "at": advice.created_at.isoformat(),
    }


def _rebase(offer: Offer) -> dict[str, Any]:
    prepared, clash = offer.prepared, offer.clash
    base = clash.current.digest if clash else prepared.base_digest if prepared else ""
    return {
        "possible": prepared is not None,
        "base_digest": base or None,
        "result_digest": (prepared.result_digest or None) if prepared else None,
        "reason": offer.reason,
        "conflicts": [_clash(file) for file in offer.clashes],
    }


def _clash(file: FileMerge) -> dict[str, Any]:
    places = [
        {"key": one.key, "base": one.block.base, "now": one.block.theirs, "proposed": one.block.mine}
        for one in file.choices
    ]
    return {"path": file.path, "key": file.whole or None, "places": places}
