"""The effective skills of a project: list, search and load them. Every API and protocol uses this module.

A view is a pure function of the fingerprint of the built-in skills and the project's revision, and is cached under
that key. `load` reads a single row, so it costs the same in a project of ten skills and of ten thousand.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import F, QuerySet

from registry.core import content_types, paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry, normalise
from registry.core.catalog import precedence
from registry.core.catalog.precedence import BUNDLED, PROJECT, Candidate, Claim, Diagnostic, EffectiveSkill
from registry.core.errors import NotFound, Quarantined, SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.lib.lru import LruCache
from registry.models import Approval, Project, Skill, Version
from registry.services.catalog import built_in, candidates, current_version
from registry.services.catalog.current_version import Approved, ScanSummary
from registry.services.files import blobs

# Part of every ETag. Increase it when an upgrade changes answers without a new revision of the project.
ANSWERS = 3

_SMALL = 64 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All effective skills of a project at one moment. Compared by identity, because comparing values is slow."""

    skills: tuple[EffectiveSkill, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def served(self) -> tuple[Candidate, ...]:
        return tuple(skill.winner for skill in self.skills if skill.winner is not None and skill.enabled)

    def only(self, allowed: frozenset[str]) -> "View":
        return View(
            tuple(skill for skill in self.skills if skill.name in allowed),
            tuple(problem for problem in self.diagnostics if problem.name in allowed),
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """One skill with its files. `on_disk` is set for a built-in skill; other files are in the blob storage."""

    candidate: Candidate
    files: tuple[FileEntry, ...]
    on_disk: built_in.BuiltInSkill | None = None
    approval: Approved | None = None  # set by `load` only
    scan: ScanSummary | None = None  # set by `load` only

    @property
    def name(self) -> str:
        return self.candidate.name

    def entry(self, path: str) -> FileEntry:
        paths.check(path)
        for entry in self.files:
            if entry.path == path:
                return entry
        raise NotFound(f"{self.name} has no file {paths.display(path)}.", files=[entry.path for entry in self.files])

    def read(self, entry: FileEntry) -> bytes:
        return built_in.index().read(self.on_disk, entry) if self.on_disk else blobs.read(entry)

    def read_text(self, path: str, limits: Limits) -> str:
        entry = self.entry(path)
        return content_types.decode_text(path, entry.size, lambda: self.read(entry), limits=limits)

    def skill_md(self) -> skill_md.SkillMd:
        content = self.read(self.entry(SKILL_MD))
        read = _read_small if len(content) <= _SMALL else skill_md.read
        return read(content, fallback_name=self.name)

    def bundle(self) -> Bundle:
        return Bundle.stored({entry.path: self.read(entry) for entry in self.files})


@lru_cache(maxsize=1_000)
def _read_small(content: bytes, *, fallback_name: str) -> skill_md.SkillMd:
    """Cache by content, so that a change of one skill does not parse the others again."""
    return skill_md.read(content, fallback_name=fallback_name)


_views: LruCache[tuple[str, int, int], View] = LruCache(32)


def view(project_id: int, revision: int, *, allowed: frozenset[str] | None = None) -> View:
    """Return the view of a project at the revision that the caller read, limited to the names in `allowed`.

    Rows may be newer than `revision`, never older.
    """
    snapshot = built_in.snapshot()
    key = (snapshot.fingerprint, project_id, revision)
    found = _views.get(key)
    if found is None:
        skills = precedence.resolve_all(snapshot.candidates, _claims(_rows(project_id).iterator(chunk_size=2_000)))
        found = View(skills, (*snapshot.diagnostics, *precedence.withdrawn(skills)))
        _views.put(key, found)
    return found if allowed is None else found.only(allowed)


_AUTHOR_COLUMNS = (
    "current__author__username", "current__author__first_name", "current__author__last_name", "current__agent__name",
)  # fmt: skip


def _claims(rows: Iterable[tuple[Any, ...]]) -> dict[str, Claim]:
    return {row[0]: _claim(row) for row in rows}


def _rows(project_id: int, **where: Any) -> QuerySet[Skill, tuple[Any, ...]]:
    rows = Skill.objects.filter(project_id=project_id, **where)
    return rows.values_list(*candidates.CLAIM_COLUMNS, *_AUTHOR_COLUMNS)


def _claim(row: tuple[Any, ...]) -> Claim:
    width = len(candidates.CLAIM_COLUMNS)
    return candidates.claim(row[:width], changed_by=_author(*row[width:]))


def _author(username: str | None, first: str | None, last: str | None, agent: str | None) -> str:
    return agent or f"{first or ''} {last or ''}".strip() or username or "command line"


def find_each(project_id: int, names: Iterable[str]) -> dict[str, EffectiveSkill]:
    """Return the effective skills of these names with one query, whatever the size of the project."""
    wanted = {normalise(name) for name in names}
    snapshot = built_in.snapshot()
    built_ins = {name: snapshot.candidates_of(name) for name in wanted if name in snapshot.skills}
    skills = precedence.resolve_all(built_ins, _claims(_rows(project_id, name__in=wanted)))
    return {skill.name: skill for skill in skills}


def served_among(project_id: int, names: Iterable[str], *, allowed: frozenset[str] | None = None) -> frozenset[str]:
    """Return those of a few names that an agent could load, with one query."""
    skills = find_each(project_id, names if allowed is None else frozenset(names) & allowed)
    return frozenset(name for name, skill in skills.items() if skill.served)


def find(project_id: int, name: str) -> EffectiveSkill | None:
    """Return the effective skill of one name, also where the name is switched off."""
    name = normalise(name)
    return find_each(project_id, [name]).get(name)


def get(project_id: int, name: str) -> EffectiveSkill:
    skill = find(project_id, name)
    if skill is None:
        raise _unknown(normalise(name))
    return skill


def load(project_id: int, name: str, *, version: str | None = None, allowed: frozenset[str] | None = None) -> Loaded:
    """Return the skill that an agent gets under a name, or exactly this version of it."""
    name = normalise(name)
    permit(name, allowed)
    current, snapshot = current_version.find(project_id, name), built_in.snapshot()
    skill = precedence.resolve(name, snapshot.candidates_of(name), current.claim if current else None)
    if skill is None:
        raise _unknown(name, version)
    if not skill.enabled:
        raise _unknown(name)
    winner = skill.winner
    if winner is None or version not in (None, winner.version):
        if version is None:
            raise _nothing_left(project_id, name)
        if not skill.from_project:
            raise _unknown(name, version)
        return _earlier(project_id, name, version)
    if current is None or winner.source == BUNDLED:
        return on_disk(snapshot.find(winner))
    return Loaded(winner, current.files, approval=current.approval, scan=current.scan)


def _earlier(project_id: int, name: str, version: str) -> Loaded:
    """Return a version other than the current one."""
    rows = Version.objects.filter(
        skill__project_id=project_id, skill__name=name, version=version, yanked_at=None, deleted_at=None
    )
    row = rows.select_related("approval__by", "scan").first()
    if row is None:
        raise _unknown(name, version)
    if not row.available:
        raise Quarantined(f"Version {paths.display(version)} of {paths.display(name)} is in quarantine.")
    approval: Approval | None = getattr(row, "approval", None)
    return replace(
        stored(name, row),
        approval=current_version.approved(approval) if approval else None,
        scan=current_version.summarised(row.scan),
    )


def _nothing_left(project_id: int, name: str) -> SkillsiteError:
    """Return the error for a project skill without a version that agents may get."""
    rows = Version.objects.filter(skill__project_id=project_id, skill__name=name, yanked_at=None, deleted_at=None)
    if rows.filter(quarantined_at__isnull=False).exists():
        return Quarantined(f"{paths.display(name)} is in quarantine. No other version of it can be loaded.")
    return _unknown(name)


def permit(name: str, allowed: frozenset[str] | None) -> None:
    """Raise NotFound for a name outside `allowed`, as if the skill did not exist. No row can store a NUL character."""
    if "\0" in name or (allowed is not None and normalise(name) not in allowed):
        raise _unknown(normalise(name))


def load_many(project_id: int, candidates: Iterable[Candidate]) -> Iterator[Loaded]:
    """Yield the skills behind candidates of a view, with one query for all.

    Skills that changed since the view was made are yielded in their current state, or not at all if they are gone.
    """
    chosen = list(candidates)
    own = [candidate.name for candidate in chosen if candidate.source == PROJECT]
    rows = Version.objects.available().filter(
        skill__project_id=project_id, skill__name__in=own, skill__enabled=True, pk=F("skill__current_id")
    )
    versions = {version.skill.name: version for version in rows.select_related("skill")} if own else {}
    for candidate in chosen:
        if candidate.source == PROJECT and candidate.name in versions:
            yield stored(candidate.name, versions[candidate.name])
        elif candidate.source == BUNDLED and (loaded := built_in_skill(candidate.name)):
            yield loaded


def built_in_skill(name: str) -> Loaded | None:
    """Return the built-in skill of a name, even if the project overrides it."""
    snapshot = built_in.snapshot()
    skill = precedence.resolve(name, snapshot.candidates_of(name), None)
    return on_disk(snapshot.find(skill.winner)) if skill and skill.winner else None


def stored(name: str, version: Version) -> Loaded:
    return Loaded(candidates.from_version(name, version), version.manifest)


def on_disk(skill: built_in.BuiltInSkill) -> Loaded:
    return Loaded(skill.candidate, skill.files, skill)


def inspect(project: Project, name: str) -> tuple[EffectiveSkill, Loaded | None]:
    """Return the effective skill and its files for people, also where the name is switched off."""
    skill = get(project.pk, name)
    if skill.winner is None:
        return skill, None
    if skill.winner.source == BUNDLED:
        return skill, built_in_skill(skill.name)
    version = Version.objects.get(skill__project=project, skill__name=skill.name, version=skill.winner.version)
    return skill, stored(skill.name, version)


def matching(
    candidates: Iterable[Candidate], *, tag: str = "", kind: str = "", source: str = ""
) -> Sequence[Candidate]:
    """Return the candidates that pass every filter, in their order. An empty filter passes all."""
    return [
        candidate
        for candidate in candidates
        if (not source or candidate.source == source)
        and (not kind or candidate.kind == kind)
        and (not tag or tag in candidate.tags)
    ]


def _unknown(name: str, version: str | None = None) -> NotFound:
    if version is not None:
        return NotFound(f"{paths.display(name)} has no version {paths.display(version)} that can be loaded.")
    return NotFound(f"There is no skill {paths.display(name)} in this project.")
