"""Approval records, and the check that agents get exactly the approved bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.core.errors import SkillsiteError
from registry.models import Approval, Event, Proposal, Version
from registry.services.files import blobs


@dataclass(frozen=True, slots=True)
class Doubt:
    """A problem with a served version. `missing` means that a protected project serves it without an approval."""

    project: str
    skill: str
    version: str
    reason: str
    missing: bool = False


def record(
    proposal: Proposal, version: Version | None, *, digest: str, proposed: str, own_agent: bool, by: int
) -> Approval:
    """Store the approval, in the transaction that stored the version."""
    return Approval.objects.create(
        proposal=proposal,
        version=version,
        digest=digest,
        proposed_digest=proposed,
        base_digest=proposal.base_digest,
        by_id=by,
        own_agent=own_agent,
    )


def verify() -> tuple[int, list[Doubt]]:
    """Recompute the digest of every version that agents can get. Return how many are valid, and the problems."""
    good, doubts = 0, []
    served = (
        Version.objects.available()
        .filter(skill__overrides=True)
        .select_related("skill__project", "approval__proposal", "approval__by")
        .order_by("pk")
    )
    for version in served.iterator(chunk_size=200):
        problems = [
            Doubt(version.skill.project.slug, version.skill.name, version.version, reason, missing)
            for reason, missing in _doubts(version)
        ]
        doubts += problems
        good += not problems
    return good, doubts


def _doubts(version: Version) -> Iterator[tuple[str, bool]]:
    try:
        digest = blobs.bundle(version.manifest).digest
    except SkillsiteError as error:
        yield error.message, False
        return
    if digest != version.digest:
        yield f"Its files have the digest {digest}, but it is served as {version.digest}.", False
    approval = getattr(version, "approval", None)
    if approval is None:
        if version.skill.project.protected and version.skill.current_id == version.pk:
            yield "Nobody approved it, but the project requires reviews.", True
        return
    if approval.digest != digest:
        yield f"{approval.digest} was approved, but its files have the digest {digest}.", False
    if approval.proposal.state != "approved" or approval.proposal.result_digest != approval.digest:
        yield f"Proposal {approval.proposal_id} does not record that {approval.digest} was approved.", False
    if not _is_on_record(approval):
        yield f"The audit log has no approval of {approval.digest} by {approval.by.username}.", False


def _is_on_record(approval: Approval) -> bool:
    return Event.objects.filter(
        verb="proposal.approved", after=approval.digest, user=approval.by_id, data__proposal=approval.proposal_id
    ).exists()
