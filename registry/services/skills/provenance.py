"""Where a skill of the project came from: written with what came, forgotten when the skill begins anew."""

from django.utils import timezone

from registry.core.bundle import Bundle
from registry.models import Installation, Proposal, Provenance, Skill, Source, Version
from registry.services.permissions import Actor


def forget(skill: Skill) -> None:
    """Inside a change: whoever begins a skill under the name of a deleted one did not take it from there."""
    Installation.objects.filter(skill=skill).delete()
    if skill.upstream_digest:
        skill.upstream_digest, skill.upstream_version, skill.upstream_manifest = "", "", ()
        skill.save(update_fields=["upstream_digest", "upstream_version", "upstream_manifest"])


def record(provenance: Provenance, bundle: Bundle, *, by: Actor) -> Provenance:
    """Inside a change: what came, as it was stored. A version that stands again came once more."""
    provenance.digest = bundle.digest
    provenance.manifest = bundle.manifest
    provenance.user_id, provenance.agent_id, provenance.at = by.user_id, by.agent_id, timezone.now()
    if provenance.version_id is not None:
        earlier = Provenance.objects.filter(version=provenance.version_id).values_list("pk", flat=True).first()
        provenance.pk = earlier
    provenance.save()
    return provenance


def attach(skill: Skill, base: Provenance, *, before: Version | None) -> Installation:
    """Inside a change: the skill is what came from there last; `before` is what stood when it came first."""
    known = {"known_digest": base.source_digest, "known_bundle": base.fetched_digest}
    Installation.objects.filter(source=base.source_id, name=base.name).exclude(skill=skill).delete()
    standing = Installation.objects.filter(skill=skill).first()
    if standing is not None and standing.source_id == base.source_id and standing.name == base.name:
        before = standing.before
    installed, _ = Installation.objects.update_or_create(
        skill=skill,
        defaults={
            "project_id": skill.project_id, "source_id": base.source_id, "name": base.name, "base": base,
            "before": before, **known,
        },
    )  # fmt: skip
    return installed


def approved(proposal: Proposal, skill: Skill, version: Version, *, before: Version | None) -> None:
    """Inside the change that lets a proposal through: what it brought from a source is installed now.

    One that brings back what stood before something came leaves nothing of the source, and so it is not installed.
    """
    came = Provenance.objects.filter(proposal=proposal, version=None).order_by("-pk").first()
    if came is None:
        back = Installation.objects.filter(skill=skill, before__digest=version.digest)
        back.exclude(base__digest=version.digest).delete()
        return
    came.version = version
    came.save(update_fields=["version"])
    attach(skill, came, before=before)


def of(skill: Skill) -> Installation | None:
    """What a project's skill came from; None where it came from nowhere, or where the source was removed."""
    return Installation.objects.standing().filter(skill=skill).first()


def described(source: Source) -> dict[str, object]:
    """A source as every event names it: its address only up to the question mark."""
    said: dict[str, object] = {"id": source.pk, "kind": source.kind, "address": source.shown}
    return said | ({"ref": source.ref} if source.ref else {})
