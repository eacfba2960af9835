"""Provenance of imported skills: record it, attach it to a skill, forget it."""

from django.utils import timezone

from registry.core.bundle import Bundle
from registry.models import Installation, Proposal, Provenance, Skill, Source, Version
from registry.services.permissions import Actor


def forget(skill: Skill) -> None:
    """Forget where a skill came from, when a new skill takes its name. Call inside an audit change."""
    Installation.objects.filter(skill=skill).delete()
    if skill.upstream_digest:
        skill.upstream_digest, skill.upstream_version, skill.upstream_manifest = "", "", ()
        skill.save(update_fields=["upstream_digest", "upstream_version", "upstream_manifest"])


def record(provenance: Provenance, bundle: Bundle, *, by: Actor) -> Provenance:
    """Store a provenance; if its version already has one, replace it. Call inside an audit change."""
    provenance.digest = bundle.digest
    provenance.manifest = bundle.manifest
    provenance.user_id, provenance.agent_id, provenance.at = by.user_id, by.agent_id, timezone.now()
    if provenance.version_id is not None:
        earlier = Provenance.objects.filter(version=provenance.version_id).values_list("pk", flat=True).first()
        provenance.pk = earlier
    provenance.save()
    return provenance


def attach(skill: Skill, base: Provenance, *, before: Version | None) -> Installation:
    """Install a skill from `base`; `before` is the version from before the import. Call inside an audit change."""
    known = {"known_digest": base.source_digest, "known_bundle": base.fetched_digest}
    Installation.objects.filter(source=base.source_id, name=base.name).exclude(skill=skill).delete()
    earlier = Installation.objects.filter(skill=skill).first()
    if earlier is not None and earlier.source_id == base.source_id and earlier.name == base.name:
        before = earlier.before
    installation, _ = Installation.objects.update_or_create(
        skill=skill,
        defaults={
            "project_id": skill.project_id, "source_id": base.source_id, "name": base.name, "base": base,
            "before": before, **known,
        },
    )  # fmt: skip
    return installation


def install_approved(proposal: Proposal, skill: Skill, version: Version, *, before: Version | None) -> None:
    """Install the imported skill of an approved proposal. Call inside the audit change that approves it.

    A proposal that restores the version from before the import removes the installation.
    """
    imported = Provenance.objects.filter(proposal=proposal, version=None).order_by("-pk").first()
    if imported is None:
        restored = Installation.objects.filter(skill=skill, before__digest=version.digest)
        restored.exclude(base__digest=version.digest).delete()
        return
    imported.version = version
    imported.save(update_fields=["version"])
    attach(skill, imported, before=before)


def installation_of(skill: Skill) -> Installation | None:
    """Return the installation of a skill, or None if it was not imported or its source was removed."""
    return Installation.objects.standing().filter(skill=skill).first()


def audit_data(source: Source) -> dict[str, object]:
    """Return a source for the audit log, with its address but without the query."""
    data: dict[str, object] = {"id": source.pk, "kind": source.kind, "address": source.shown}
    return data | ({"ref": source.ref} if source.ref else {})
