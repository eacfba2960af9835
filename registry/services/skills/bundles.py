"""Whole bundles in and out: checked, previewed, imported, exported."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from registry.core import paths, roles
from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.catalog import precedence, token_estimate
from registry.core.catalog.precedence import BUNDLED, EffectiveSkill, Hidden
from registry.core.errors import InvalidSkill, Stale
from registry.core.findings import Finding, errors
from registry.core.format import skill_md
from registry.core.lint import rules
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.permissions import Actor, reach, require, require_publish, require_reach
from registry.services.skills import provenance, versions

CREATE, OVERRIDE, NEW_VERSION, UNCHANGED = "create", "override", "new-version", "unchanged"


@dataclass(frozen=True, slots=True)
class Checked:
    """A bundle that may be stored, with what its SKILL.md says and what is worth knowing about it."""

    bundle: Bundle
    said: skill_md.SkillMd
    name: str
    findings: tuple[Finding, ...]

    @property
    def tokens(self) -> int:
        return token_estimate.estimate(self.said.instructions)


@dataclass(frozen=True, slots=True)
class Preview:
    """What storing a bundle would do. Nothing is stored by looking."""

    checked: Checked
    action: str
    version: str
    standing: EffectiveSkill | None
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
    """Reads and lints a bundle; anything that must not be stored is an error that names file, line and fix.

    With a project, the skills it requires are looked for among those that `by` may know of there.
    """
    said = skill_md.read(bundle[SKILL_MD], fallback_name=directory or "", limits=settings.LIMITS)
    name = paths.check_component(normalise(said.name), what="name")
    if not authoring and (version := was or said.version):
        paths.check_component(version, what="version")
    known = None
    if project and by and said.requires:
        known = catalog.served_among(project.pk, said.requires, allowed=reach(by))
    findings = rules.lint(
        said, bundle, authoring=authoring, known_names=known, directory=directory, limits=settings.LIMITS
    )
    if stopping := errors(findings):
        first = stopping[0]
        raise InvalidSkill(f"{place(first)}: {first.message} {first.fix} Nothing was stored.", findings=findings)
    return Checked(bundle, said, name, findings)


def place(finding: Finding) -> str:
    return f"{finding.file}, line {finding.line}" if finding.line else finding.file


def preview(project: Project, bundle: Bundle, *, directory: str | None = None, was: str = "", by: Actor) -> Preview:
    """What `import_bundle` would do with it. Whoever may store or propose it may look."""
    require(by, roles.WRITE if by.may(roles.WRITE) else roles.PROPOSE, project)
    checked = check(bundle, authoring=False, directory=directory, was=was, project=project, by=by)
    require_reach(by, checked.name)
    return _foresee(project, checked, was)


def _foresee(project: Project, checked: Checked, was: str) -> Preview:
    skill = Skill.objects.filter(project=project, name=checked.name).select_related("current").first()
    standing = catalog.find(project.pk, checked.name)
    action, same = _decide(skill, checked, standing, was)
    upcoming = versions.next_number(skill) if skill else "1"
    named = same.version if same else _named(skill, checked, was) or upcoming
    return Preview(checked, action, named, standing, precedence.would_hide(standing))


def import_bundle(
    project: Project,
    bundle: Bundle,
    *,
    directory: str | None = None,
    was: str = "",
    seen: str | None = None,
    note: str = "",
    by: Actor,
) -> Imported:
    """Stores a bundle as a new skill or a new version, under the version its source names if it names one.

    `directory` names a skill that does not name itself. `was` is the version that another site had given it, which is
    kept where it is free here. `seen` is the digest that somebody saw standing there, empty for nothing.
    """
    require_publish(by, project)
    checked = check(bundle, authoring=False, directory=directory, was=was, project=project, by=by)
    require_reach(by, checked.name)
    note = versions.checked_note(note)
    _foresee(project, checked, was)  # what will be refused is refused before a file is stored
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "bundle.imported", by=by, target=checked.name) as change:
        standing = catalog.find(project.pk, checked.name)
        if seen is not None and precedence.digest_of(standing) != seen:
            raise Stale(
                f"{checked.name} was saved by somebody else since you looked. Look at the difference again. "
                "Nothing was stored.",
                digest=precedence.digest_of(standing),
            )
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=checked.name)
        action, same = _decide(skill, checked, standing, was)
        change.data["action"] = action
        if not skill.overrides:
            provenance.forget(skill)
        if action == UNCHANGED and same is not None:
            change.cancel()
        elif same is not None:
            versions.bring_back(skill, same, by=by, change=change)
        else:
            named = _named(skill, checked, was)
            same = versions.add(skill, bundle, checked.said, named=named, note=note, by=by, change=change)
        return Imported(same, action, checked.findings)


def _decide(
    skill: Skill | None, checked: Checked, standing: EffectiveSkill | None, was: str
) -> tuple[str, Version | None]:
    """The action, and the stored version that holds these very bytes already if there is one."""
    named = checked.said.version if was in ("", checked.said.version) else None
    same = _same(skill, checked.bundle, named, was) if skill else None
    if skill and skill.overrides:
        if same is None and named is None and skill.current and skill.current.digest == checked.bundle.digest:
            same = skill.current
        return (UNCHANGED if same else NEW_VERSION), same
    winner = standing.winner if standing else None
    return (OVERRIDE if winner and winner.source == BUNDLED else CREATE), same


def _same(skill: Skill, bundle: Bundle, named: str | None, was: str) -> Version | None:
    """A version that the author named stands for its bytes anywhere; one that a site counted up to, only there."""
    if named:
        return versions.same_version(skill, named, bundle)
    if was and not Version.objects.filter(skill=skill, version=was).exclude(digest=bundle.digest).exists():
        return versions.same_version(skill, was, bundle)
    return None


def _named(skill: Skill | None, checked: Checked, was: str) -> str | None:
    """The version to store it under; None for the next number."""
    if was in ("", checked.said.version):
        return checked.said.version
    taken = skill is not None and Version.objects.filter(skill=skill, version=was).exists()
    return None if taken else was
