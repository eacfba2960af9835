"""The one resolver: what an agent of a project gets, for list, search and load alike.

The whole view is a pure function of the directories' fingerprint and the project's revision, and is kept under that
key. One skill is found by name alone, so that a load costs the same in a project of ten skills and of ten thousand.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import F

from registry.core import content_types, paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry, normalise
from registry.core.catalog import precedence, relevance
from registry.core.catalog.precedence import BUNDLED, PROJECT, Candidate, Claim, EffectiveSkill, LeftOut
from registry.core.errors import NotFound
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.lib.lru import LruCache
from registry.models import Approval, Project, Skill, Version
from registry.services.catalog import built_in, current_version
from registry.services.catalog.current_version import Approved
from registry.services.files import blobs

_SMALL = 64 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All effective skills of a project at one moment. Views are told apart as objects: comparing them is costly."""

    skills: tuple[EffectiveSkill, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def served(self) -> tuple[Candidate, ...]:
        return tuple(skill.winner for skill in self.skills if skill.winner is not None and skill.enabled)

    def only(self, allowed: frozenset[str]) -> "View":
        return View(
            tuple(skill for skill in self.skills if skill.name in allowed),
            tuple(one for one in self.left_out if one.name in allowed),
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """One skill as it is served: the facts, its files, and where their bytes are."""

    candidate: Candidate
    files: tuple[FileEntry, ...]
    on_disk: built_in.DiskSkill | None = None
    approval: Approved | None = None  # filled in by `load`, which reads it along

    @property
    def name(self) -> str:
        return self.candidate.name

    def entry(self, path: str) -> FileEntry:
        paths.check(path)
        for entry in self.files:
            if entry.path == path:
                return entry
        raise NotFound(f"{self.name} has no file {paths.shown(path)}.", files=[entry.path for entry in self.files])

    def read(self, entry: FileEntry) -> bytes:
        return built_in.index().read(self.on_disk, entry) if self.on_disk else blobs.read(entry)

    def read_text(self, path: str, limits: Limits) -> str:
        entry = self.entry(path)
        return content_types.as_text(path, entry.size, lambda: self.read(entry), limits=limits)

    def skill_md(self) -> skill_md.SkillMd:
        content = self.read(self.entry(SKILL_MD))
        read = _read_small if len(content) <= _SMALL else skill_md.read
        return read(content, fallback_name=self.name)

    def bundle(self) -> Bundle:
        return Bundle({entry.path: self.read(entry) for entry in self.files})


@lru_cache(maxsize=1_000)
def _read_small(content: bytes, *, fallback_name: str) -> skill_md.SkillMd:
    """The same bytes say the same: a change elsewhere in the project does not make its other skills be read anew."""
    return skill_md.read(content, fallback_name=fallback_name)


_views: LruCache[tuple[str, int, int], View] = LruCache(32)


def view(project_id: int, revision: int, *, allowed: frozenset[str] | None = None) -> View:
    """`revision` is the one the caller read. Rows newer than it are only ever fresher, never mixed up with it.

    `allowed` are the names that an agent may see; for it there are no others, here as in `load`.
    """
    snapshot = built_in.snapshot()
    key = (snapshot.fingerprint, project_id, revision)
    kept = _views.get(key)
    if kept is None:
        skills = precedence.resolve_all(snapshot.candidates, _claims(project_id))
        kept = View(skills, (*snapshot.left_out, *precedence.withdrawn(skills)))
        _views.put(key, kept)
    return kept if allowed is None else kept.only(allowed)


_COLUMNS = (
    "name", "enabled", "overrides", "current__version", "current__digest", "current__description", "current__kind",
    "current__tags", "current__requires", "current__triggers", "current__tokens", "current__created_at",
    "current__author__username", "current__author__first_name", "current__author__last_name", "current__agent__name",
)  # fmt: skip


def _claims(project_id: int) -> dict[str, Claim]:
    rows = Skill.objects.filter(project_id=project_id).values_list(*_COLUMNS)
    return {row[0]: _claim(row) for row in rows.iterator(chunk_size=2_000)}


def _claim(row: tuple[Any, ...]) -> Claim:
    name, enabled, overrides, version, digest, description, kind, tags, requires, triggers, tokens, at, *who = row
    candidate = None
    if overrides and version is not None:
        candidate = Candidate(
            name, PROJECT, version, digest, description, kind, tuple(tags), tuple(requires), tuple(triggers), tokens,
            changed_at=at, changed_by=_who(*who),
        )  # fmt: skip
    return Claim(name, enabled, overrides, candidate)


def _who(username: str | None, first: str | None, last: str | None, agent: str | None) -> str:
    return agent or f"{first or ''} {last or ''}".strip() or username or "command line"


def served_among(project_id: int, names: Iterable[str], *, allowed: frozenset[str] | None = None) -> frozenset[str]:
    """Those of a few names that an agent could load, for the price of one query in a project of any size."""
    wanted = frozenset(names) if allowed is None else frozenset(names) & allowed
    rows = Skill.objects.filter(project_id=project_id, name__in=wanted).values_list(*_COLUMNS)
    bundled = {name: found for name, found in built_in.snapshot().candidates.items() if name in wanted}
    skills = precedence.resolve_all(bundled, {row[0]: _claim(row) for row in rows})
    return frozenset(skill.name for skill in skills if skill.served)


def find(project_id: int, name: str) -> EffectiveSkill | None:
    """What stands under one name, switched off or not."""
    name = normalise(name)
    row = Skill.objects.filter(project_id=project_id, name=name).values_list(*_COLUMNS).first()
    bundled = [skill.candidate for skill in built_in.snapshot().skills.get(name, ())]
    return precedence.resolve(name, bundled, _claim(row) if row else None)


def get(project_id: int, name: str) -> EffectiveSkill:
    found = find(project_id, name)
    if found is None:
        raise _unknown(normalise(name))
    return found


def load(project_id: int, name: str, *, version: str | None = None, allowed: frozenset[str] | None = None) -> Loaded:
    """The skill an agent gets under a name; `version` asks for one exact version of what is served."""
    name = normalise(name)
    permit(name, allowed)
    found = current_version.under(project_id, name)
    if found is not None and not found.enabled:
        raise _unknown(name)
    if found is None or not found.overrides:
        return _bundled(name, version)
    if version is not None and (found.candidate is None or found.candidate.version != version):
        return _earlier(project_id, name, version)
    if found.candidate is None:
        raise _unknown(name, version)
    return Loaded(found.candidate, found.files, approval=found.approval)


def _earlier(project_id: int, name: str, version: str) -> Loaded:
    """A version that is not the one agents get without asking."""
    wanted = Version.objects.available().filter(skill__project_id=project_id, skill__name=name, version=version)
    found = wanted.select_related("approval__by").first()
    if found is None:
        raise _unknown(name, version)
    approval: Approval | None = getattr(found, "approval", None)
    return replace(stored(name, found), approval=current_version.approved(approval) if approval else None)


def permit(name: str, allowed: frozenset[str] | None) -> None:
    """For an agent with a list of skills, those beside the list are not there. Nor is any name that no row can hold."""
    if "\0" in name or (allowed is not None and normalise(name) not in allowed):
        raise _unknown(normalise(name))


def load_many(project_id: int, candidates: Iterable[Candidate]) -> Iterator[Loaded]:
    """The files behind candidates of a view, with one query for all of them.

    A skill that was saved since the view was made comes as it is now; one that was taken away does not come.
    """
    wanted = list(candidates)
    on_disk_now = built_in.snapshot().skills
    own = [candidate.name for candidate in wanted if candidate.source == PROJECT]
    rows = Version.objects.available().filter(
        skill__project_id=project_id, skill__name__in=own, skill__enabled=True, pk=F("skill__current_id")
    )
    versions = {version.skill.name: version for version in rows.select_related("skill")} if own else {}
    for candidate in wanted:
        if candidate.source == PROJECT and candidate.name in versions:
            yield stored(candidate.name, versions[candidate.name])
        elif candidate.source == BUNDLED and candidate.name in on_disk_now:
            yield on_disk(on_disk_now[candidate.name][0])


def _bundled(name: str, version: str | None) -> Loaded:
    found = built_in.snapshot().skills.get(name, ())
    if not found or (version is not None and version != found[0].candidate.version):
        raise _unknown(name, version)
    return on_disk(found[0])


def stored(name: str, version: Version) -> Loaded:
    candidate = Candidate(
        name, PROJECT, version.version, version.digest, version.description, version.kind, tuple(version.tags),
        tuple(version.requires), tuple(version.triggers), version.tokens, changed_at=version.created_at,
    )  # fmt: skip
    return Loaded(candidate, version.manifest)


def on_disk(skill: built_in.DiskSkill) -> Loaded:
    return Loaded(skill.candidate, skill.files, skill)


def inspect(project: Project, name: str) -> tuple[EffectiveSkill, Loaded | None]:
    """For people: the outcome and the winner, also where the name is switched off."""
    found = get(project.pk, name)
    if found.winner is None:
        return found, None
    if found.winner.source == BUNDLED:
        return found, on_disk(built_in.snapshot().skills[found.name][0])
    version = Version.objects.get(skill__project=project, skill__name=found.name, version=found.winner.version)
    return found, stored(found.name, version)


def matching(
    candidates: Iterable[Candidate], *, q: str = "", tag: str = "", kind: str = "", source: str = ""
) -> Sequence[Candidate]:
    """The candidates that have every word of `q` in name, description, tags or triggers, the most relevant first."""
    words = q.lower().split()
    found = [
        candidate
        for candidate in candidates
        if (not source or candidate.source == source)
        and (not kind or candidate.kind == kind)
        and (not tag or tag in candidate.tags)
        and (not words or has_all(candidate, words))
    ]
    return relevance.ordered(found, words) if words else found


def has_all(candidate: Candidate, words: Sequence[str]) -> bool:
    """Whether name, description, tags and triggers together have every word; the words are in lower case."""
    text = " ".join((candidate.name, candidate.description, *candidate.tags, *candidate.triggers)).lower()
    return all(word in text for word in words)


def _unknown(name: str, version: str | None = None) -> NotFound:
    if version is not None:
        return NotFound(f"{paths.shown(name)} has no version {paths.shown(version)} that can be loaded.")
    return NotFound(f"There is no skill {paths.shown(name)} in this project.")
