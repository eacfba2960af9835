"""Customised built-in skills: make the project's copy, compare it, and merge later changes of the built-in skill."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.utils import timezone

from registry.core import roles
from registry.core.bundle import Bundle, normalise
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import AlreadyExists, InvalidRequest, InvalidSkill, NotFound, Stale
from registry.core.text import merge_bundles
from registry.core.text.merge_bundles import BundleMerge
from registry.models import Project, Skill, Version
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.permissions import Actor, require, require_publish
from registry.services.skills import bundles, skills, versions


@dataclass(frozen=True)
class Origin:
    """A customised skill: the built-in skill now, and the project's version."""

    skill: Skill
    built_in: Loaded
    mine: Loaded

    @property
    def changed(self) -> bool:
        """Tell whether the built-in skill changed since the project's copy was made or updated."""
        return self.built_in.candidate.digest != self.skill.upstream_digest

    @property
    def same(self) -> bool:
        return self.built_in.candidate.digest == self.mine.candidate.digest

    @cached_property
    def base(self) -> Mapping[str, bytes]:
        return blobs.bundle(self.skill.upstream_manifest)

    @cached_property
    def merge(self) -> BundleMerge:
        return merge_bundles.merge(self.base, self.built_in.bundle(), self.mine.bundle())


def customise(project: Project, name: str, *, by: Actor) -> Version:
    """Copy a built-in skill with its files into the project. Agents get the copy from then on."""
    require_publish(by, project)
    original = _effective_built_in(project, name)
    bundle = original.bundle()
    checked = bundles.check(bundle, authoring=False, directory=original.name, project=project)
    bundles.require_publishable(project, checked, by=by)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.customised", by=by, target=original.name) as change:
        if _effective_built_in(project, name).candidate.digest != bundle.digest:
            raise Stale(
                f"The files of {original.name} changed in the meantime. Try again. Nothing was saved.", digest=""
            )
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=original.name)
        skills.set_upstream(skill, original)
        change.data["upstream"] = original.candidate.digest
        note = f"Copy of the built-in version {original.candidate.version}"
        return versions.add(skill, bundle, checked.parsed, named=None, note=note[:300], by=by, change=change)


def _effective_built_in(project: Project, name: str) -> Loaded:
    """Return the built-in skill that agents get under this name."""
    effective, loaded = catalog.inspect(project, name)
    if loaded is None or effective.winner is None or effective.winner.source != BUNDLED:
        raise AlreadyExists(f"The project already has a skill {effective.name}. Edit that one.")
    return loaded


def find(project: Project, name: str) -> Origin | None:
    """Return the origin of a customised skill; None if it is not customised, or one side is gone."""
    name = normalise(name)
    skill = (
        Skill.objects.filter(project=project, name=name, overrides=True)
        .exclude(upstream_digest="")
        .select_related("current")
        .first()
    )
    original = catalog.built_in_skill(name)
    if skill is None or skill.current is None or original is None:
        return None
    return Origin(skill, original, catalog.stored(name, skill.current))


def rebase(
    project: Project,
    name: str,
    *,
    theirs: str,
    mine: str,
    answers: Mapping[str, str] | None = None,
    gate_reason: str = "",
    by: Actor,
) -> Version:
    """Store the merge of the built-in skill's changes and the project's changes as the next version.

    `theirs` and `mine` are the digests on the person's page. Each conflict needs an answer.
    """
    require_publish(by, project)
    origin = _unchanged_origin(project, name, theirs, mine)
    bundle = _resolve(origin, answers or {})
    checked = bundles.check(bundle, authoring=False, directory=origin.skill.name, project=project)
    if checked.name != origin.skill.name:
        raise InvalidSkill(f"The merged SKILL.md is named {checked.name}, not {origin.skill.name}. Nothing was saved.")
    bundles.require_publishable(project, checked, gate_reason=gate_reason, by=by)
    blobs.put(bundle, now=timezone.now())
    blobs.put(origin.built_in.bundle(), now=timezone.now())
    with audit.change(project, "skill.rebased", by=by, target=origin.skill.name) as change:
        now = _unchanged_origin(project, name, theirs, mine)
        _set_base(now, change)
        if bundle.digest == mine and now.skill.current is not None:
            change.before = change.after = mine
            return now.skill.current
        note = f"Updated to the built-in version {now.built_in.candidate.version}"
        return versions.add(
            now.skill, bundle, checked.parsed, named=None, note=note[:300], gate_reason=gate_reason, by=by,
            change=change,
        )  # fmt: skip


def keep(project: Project, name: str, *, theirs: str, by: Actor) -> None:
    """Mark the built-in skill as seen without changing the project's version."""
    require(by, roles.WRITE, project)
    origin = _unchanged_origin(project, name, theirs)
    blobs.put(origin.built_in.bundle(), now=timezone.now())
    with audit.change(project, "upstream.kept", by=by, target=origin.skill.name) as change:
        now = _unchanged_origin(project, name, theirs)
        if not now.changed:
            change.cancel()
            return
        _set_base(now, change)
        change.before = change.after = now.mine.candidate.digest


def _set_base(origin: Origin, change: Change) -> None:
    change.data["upstream"] = {"before": origin.skill.upstream_digest, "after": origin.built_in.candidate.digest}
    skills.set_upstream(origin.skill, origin.built_in)


def _unchanged_origin(project: Project, name: str, theirs: str, mine: str | None = None) -> Origin:
    """Return the origin. Raise Stale if either side changed since the page was loaded; `mine` may be left out."""
    origin = find(project, name)
    if origin is None:
        raise NotFound(f"{normalise(name)} is not customised, or the built-in skill was removed.")
    if origin.built_in.candidate.digest != theirs:
        message = f"The built-in {origin.skill.name} changed again. Check the changes again. Nothing was saved."
        raise Stale(message, digest=origin.built_in.candidate.digest)
    if mine is not None and origin.mine.candidate.digest != mine:
        message = (
            f"Somebody else saved {origin.skill.name} in the meantime. Check the changes again. Nothing was saved."
        )
        raise Stale(message, digest=origin.mine.candidate.digest)
    return origin


def _resolve(origin: Origin, answers: Mapping[str, str]) -> Bundle:
    merge = origin.merge
    missing = [key for key in merge.keys if answers.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)]
    if missing:
        conflicts = "1 conflict" if len(missing) == 1 else f"{len(missing)} conflicts"
        raise InvalidRequest(f"Choose a side for {conflicts} first. Nothing was saved.", missing=missing)
    return Bundle(merge.files(answers))
