"""A project's copy of a bundled skill: made, compared with where it came from, and brought up to date."""

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
    """Where a project's skill came from, what stands there now, and what the project made of it."""

    skill: Skill
    bundled: Loaded
    mine: Loaded

    @property
    def changed(self) -> bool:
        """The bundled skill is another one than the project's copy was last made or brought up to date from."""
        return self.bundled.candidate.digest != self.skill.upstream_digest

    @property
    def same(self) -> bool:
        return self.bundled.candidate.digest == self.mine.candidate.digest

    @cached_property
    def base(self) -> Mapping[str, bytes]:
        return blobs.bundle(self.skill.upstream_manifest)

    @cached_property
    def joined(self) -> BundleMerge:
        return merge_bundles.merge(self.base, self.bundled.bundle(), self.mine.bundle())


def customise(project: Project, name: str, *, by: Actor) -> Version:
    """Copies a bundled skill into the project, files and all; from then on agents get the copy."""
    require_publish(by, project)
    bundled = _standing(project, name)
    bundle = bundled.bundle()
    checked = bundles.check(bundle, authoring=False, directory=bundled.name)
    blobs.put(bundle, now=timezone.now())
    with audit.change(project, "skill.customised", by=by, target=bundled.name) as change:
        if _standing(project, name).candidate.digest != bundle.digest:
            raise Stale(f"{bundled.name} changed on disk meanwhile. Try again. Nothing was stored.", digest="")
        skill, _ = Skill.objects.select_related("current").get_or_create(project=project, name=bundled.name)
        skills.remember(skill, bundled)
        change.data["upstream"] = bundled.candidate.digest
        note = f"Copy of the bundled version {bundled.candidate.version}"
        return versions.add(skill, bundle, checked.said, named=None, note=note[:300], by=by, change=change)


def _standing(project: Project, name: str) -> Loaded:
    """The bundled skill that agents get under the name now."""
    outcome, loaded = catalog.inspect(project, name)
    if loaded is None or outcome.winner is None or outcome.winner.source != BUNDLED:
        raise AlreadyExists(f"The project has a skill {outcome.name} of its own already. Edit that one.")
    return loaded


def find(project: Project, name: str) -> Origin | None:
    """The origin of a project's skill; None where it has none, or where the bundled one or the copy is gone."""
    name = normalise(name)
    skill = (
        Skill.objects.filter(project=project, name=name, overrides=True)
        .exclude(upstream_digest="")
        .select_related("current")
        .first()
    )
    bundled = catalog.built_in_skill(name)
    if skill is None or skill.current is None or bundled is None:
        return None
    return Origin(skill, bundled, catalog.stored(name, skill.current))


def rebase(
    project: Project, name: str, *, theirs: str, mine: str, answers: Mapping[str, str] | None = None, by: Actor
) -> Version:
    """The bundled skill's changes and the project's own become the next version.

    `theirs` and `mine` are the digests the person looked at. Each place that does not fit together needs an answer.
    """
    require_publish(by, project)
    origin = _seen(project, name, theirs, mine)
    bundle = _answered(origin, answers or {})
    checked = bundles.check(bundle, authoring=False, directory=origin.skill.name)
    if checked.name != origin.skill.name:
        raise InvalidSkill(f"The merged SKILL.md is named {checked.name}, not {origin.skill.name}. Nothing was stored.")
    blobs.put(bundle, now=timezone.now())
    blobs.put(origin.bundled.bundle(), now=timezone.now())
    with audit.change(project, "skill.rebased", by=by, target=origin.skill.name) as change:
        now = _seen(project, name, theirs, mine)
        _move_on(now, change)
        if bundle.digest == mine and now.skill.current is not None:
            change.before = change.after = mine
            return now.skill.current
        note = f"Brought up to date with the bundled version {now.bundled.candidate.version}"
        return versions.add(now.skill, bundle, checked.said, named=None, note=note[:300], by=by, change=change)


def keep(project: Project, name: str, *, theirs: str, by: Actor) -> None:
    """Marks the bundled skill as seen: the project's own stays as it is until the bundled one changes again."""
    require(by, roles.WRITE, project)
    origin = _seen(project, name, theirs)
    blobs.put(origin.bundled.bundle(), now=timezone.now())
    with audit.change(project, "upstream.kept", by=by, target=origin.skill.name) as change:
        now = _seen(project, name, theirs)
        if not now.changed:
            change.cancel()
            return
        _move_on(now, change)
        change.before = change.after = now.mine.candidate.digest


def _move_on(origin: Origin, change: Change) -> None:
    change.data["upstream"] = {"before": origin.skill.upstream_digest, "after": origin.bundled.candidate.digest}
    skills.remember(origin.skill, origin.bundled)


def _found(project: Project, name: str) -> Origin:
    origin = find(project, name)
    if origin is None:
        raise NotFound(f"{normalise(name)} is no copy of a bundled skill that is still there.")
    return origin


def _seen(project: Project, name: str, theirs: str, mine: str | None = None) -> Origin:
    """The origin, as long as what the person looked at still stands; `mine` only where it matters."""
    origin = _found(project, name)
    if origin.bundled.candidate.digest != theirs:
        message = f"The bundled {origin.skill.name} changed once more. Look at it again. Nothing was stored."
        raise Stale(message, digest=origin.bundled.candidate.digest)
    if mine is not None and origin.mine.candidate.digest != mine:
        message = f"{origin.skill.name} was saved by somebody else meanwhile. Look at it again. Nothing was stored."
        raise Stale(message, digest=origin.mine.candidate.digest)
    return origin


def _answered(origin: Origin, answers: Mapping[str, str]) -> Bundle:
    joined = origin.joined
    missing = [key for key in joined.keys if answers.get(key) not in (merge_bundles.THEIRS, merge_bundles.MINE)]
    if missing:
        places = "1 place needs a choice" if len(missing) == 1 else f"{len(missing)} places need a choice"
        raise InvalidRequest(f"{places} between the bundled text and yours. Nothing was stored.", missing=missing)
    return Bundle(joined.files(answers))
