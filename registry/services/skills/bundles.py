"""Bundles of skills: check, preview and import."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from registry.core import paths, roles
from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import precedence, token_estimate
from registry.core.catalog.precedence import BUNDLED, EffectiveSkill, Hidden
from registry.core.errors import InvalidSkill, Stale
from registry.core.findings import Category, Finding, errors
from registry.core.format import skill_md
from registry.core.lint import name_rules, rules, workflow_rules
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor, reach, require, require_publish, require_reach
from registry.services.routing import publish_gate
from registry.services.scans import scans
from registry.services.skills import provenance, versions

CREATE, OVERRIDE, NEW_VERSION, UNCHANGED = "create", "override", "new-version", "unchanged"


@dataclass(frozen=True, slots=True)
class Checked:
    """A bundle without errors, with its parsed SKILL.md and the other findings."""

    bundle: Bundle
    parsed: skill_md.SkillMd
    name: str
    findings: tuple[Finding, ...]

    @property
    def tokens(self) -> int:
        return token_estimate.estimate(self.parsed.instructions)


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of importing a bundle."""

    checked: Checked
    action: str
    version: str
    effective: EffectiveSkill | None
    hides: tuple[Hidden, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    version: Version
    action: str
    findings: tuple[Finding, ...]


def check(
    bundle: Bundle, *, authoring: bool, directory: str | None = None, was: str = "", project: Project | None = None,
    by: Actor | None = None,
) -> Checked:  # fmt: skip
    """Parse and lint a bundle. Raise InvalidSkill with file, line and fix for the first error.

    `was` is the version of an export. With `project`, the steps of a workflow are checked against its capabilities, and
    skills that the bundle needs are looked up among those `by` may use.
    """
    parsed = skill_md.read(bundle[SKILL_MD], fallback_name=directory or "", limits=settings.LIMITS)
    name = paths.check_component(normalise(parsed.name), what="name")
    if not authoring and (version := was or parsed.version):
        paths.check_component(version, what="version")
    known = None
    needed = (*parsed.requires, *workflow_rules.nested_skills(bundle, limits=settings.LIMITS))
    if project and by and needed:
        known = catalog.served_among(project.pk, needed, allowed=reach(by))
    capabilities = capability_registry.for_lint(project.pk, bundle) if project else None
    findings = rules.lint(
        parsed, bundle, authoring=authoring, known_names=known, directory=directory, limits=settings.LIMITS,
        capabilities=capabilities,
    )  # fmt: skip
    if fatal := [each for each in errors(findings) if not left_to_scan(each)]:
        first = fatal[0]
        raise InvalidSkill(f"{first.place}: {first.message} {first.fix} Nothing was saved.", findings=findings)
    scans.remember(bundle, findings)
    return Checked(bundle, parsed, name, findings)


def left_to_scan(finding: Finding) -> bool:
    """Return whether the project decides about an error. A name cannot be changed later, so its rules always hold."""
    return finding.category is Category.SECURITY and finding.rule not in name_rules.RULES


def require_publishable(project: Project, checked: Checked, *, gate_reason: str = "", by: Actor) -> None:
    """Raise BlockedByScan or RoutingGateFailed if the project does not publish a bundle.

    `versions.add` decides. This check runs before the transaction, so that a refusal stores nothing.
    """
    scans.check(project, checked.name, checked.bundle, scans.fast_report(checked.findings), by=by)
    publish_gate.check(project, checked.name, checked.bundle[SKILL_MD], reason=gate_reason, by=by)


def preview(project: Project, bundle: Bundle, *, directory: str | None = None, was: str = "", by: Actor) -> Preview:
    """Return the effect of `import_bundle`, for people who may publish or propose."""
    require(by, roles.WRITE if by.may(roles.WRITE) else roles.PROPOSE, project)
    checked = check(bundle, authoring=False, directory=directory, was=was, project=project, by=by)
    require_reach(by, checked.name)
    return _preview(project, checked, was)


def _preview(project: Project, checked: Checked, was: str) -> Preview:
    skill = Skill.objects.filter(project=project, name=checked.name).select_related("current").first()
    effective = catalog.find(project.pk, checked.name)
    action, same = _decide(skill, checked, effective, was)
    upcoming = versions.next_number(skill) if skill else "1"
    version = same.version if same else _version_name(skill, checked, was) or upcoming
    return Preview(checked, action, version, effective, precedence.would_hide(effective))


def import_bundle(
    project: Project,
    bundle: Bundle,
    *,
    directory: str | None = None,
    was: str = "",
    seen: str | None = None,
    note: str = "",
    gate_reason: str = "",
    by: Actor,
) -> Imported:
    """Store a bundle as a new skill or a new version, under the version its source names, if any.

    `directory` is the name of a skill whose SKILL.md has none. `was` is its version on another site, kept if it is free
    here. `seen` is the digest of the skill that the caller saw before, empty for none; None skips the check.
    `gate_reason` is why the bundle is published although the routing gate refuses it.
    """
    require_publish(by, project)
    checked = check(bundle, authoring=False, directory=directory, was=was, project=project, by=by)
    require_reach(by, checked.name)
    note = versions.checked_note(note)
    require_publishable(project, checked, gate_reason=gate_reason, by=by)
    _preview(project, checked, was)  # raises before any file is stored
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "bundle.imported", by=by, target=checked.name) as change:
        effective = catalog.find(project.pk, checked.name)
        _check_seen(checked.name, seen, precedence.digest_of(effective))
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=checked.name)
        action, same = _decide(skill, checked, effective, was)
        change.data["action"] = action
        if not skill.overrides:
            provenance.forget(skill)
        if action == UNCHANGED and same is not None:
            change.cancel()
        elif same is not None:
            versions.reactivate(skill, same, gate_reason=gate_reason, by=by, change=change)
        else:
            named = _version_name(skill, checked, was)
            same = versions.add(
                skill, bundle, checked.parsed, named=named, note=note, gate_reason=gate_reason, by=by, change=change
            )
        return Imported(same, action, checked.findings)


def _check_seen(name: str, seen: str | None, digest: str) -> None:
    if seen is not None and digest != seen:
        raise Stale(
            f"Somebody else saved {name} since you opened this page. Check the difference again. Nothing was saved.",
            digest=digest,
        )


def _decide(
    skill: Skill | None, checked: Checked, effective: EffectiveSkill | None, was: str
) -> tuple[str, Version | None]:
    """Return the action, and the stored version with the same bytes, if any."""
    named = checked.parsed.version if was in ("", checked.parsed.version) else None
    same = _same(skill, checked.bundle, named, was) if skill else None
    if skill and skill.overrides:
        if same is None and named is None and skill.current and skill.current.digest == checked.bundle.digest:
            same = skill.current
        return (UNCHANGED if same and same.deleted_at is None else NEW_VERSION), same
    winner = effective.winner if effective else None
    return (OVERRIDE if winner and winner.source == BUNDLED else CREATE), same


def _same(skill: Skill, bundle: Bundle, named: str | None, was: str) -> Version | None:
    """Return the stored version of this name. A number given by another site may mean other bytes here."""
    if named:
        return versions.same_version(skill, named, bundle)
    if was and not Version.objects.filter(skill=skill, version=was).exclude(digest=bundle.digest).exists():
        return versions.same_version(skill, was, bundle)
    return None


def _version_name(skill: Skill | None, checked: Checked, was: str) -> str | None:
    """Return the version to store the bundle under; None for the next number."""
    if was in ("", checked.parsed.version):
        return checked.parsed.version
    taken = skill is not None and Version.objects.filter(skill=skill, version=was).exists()
    return None if taken else was
