"""Skills for well-known discovery: of the projects at the root, of one project, or a single skill."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, FileEntry, normalise
from registry.core.catalog import precedence
from registry.core.catalog.precedence import BUNDLED, Candidate
from registry.core.errors import NotFound
from registry.lib.lru import LruCache
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, catalog, public_root
from registry.services.catalog.catalog import Loaded

SKILL, ARCHIVE = "skill-md", "archive"
ANYBODY = "anybody"
_CHUNK = 200
_EMPTY_ROOT = "No project is listed at the root of this site. The index of a public project is below its own address."

_digests: LruCache[str, str] = LruCache(100_000)


@dataclass(frozen=True, slots=True)
class _Source:
    """One project, limited to the skills that the reader may see."""

    project_id: int
    slug: str
    revision: int
    last_event: str | None
    allowed: frozenset[str] | None = None

    def tag(self) -> tuple[object, ...]:
        return catalog.ANSWERS, self.project_id, self.revision, self.last_event, self.allowed and sorted(self.allowed)

    def candidates(self) -> tuple[Candidate, ...]:
        return catalog.view(self.project_id, self.revision, allowed=self.allowed).served


Fault = Callable[[Loaded], str]


@dataclass(frozen=True, slots=True)
class Listing:
    """Skills that the format can carry, sorted by name, and the others with their project and the reason."""

    skills: tuple[Loaded, ...]
    left_out: list[dict[str, str]]
    note: str = ""

    def as_json(self) -> dict[str, list[dict[str, str]] | str]:
        """Return the extension fields for the index. Clients ignore fields that they do not know."""
        left_out = {"x-left-out": self.left_out} if self.left_out else {}
        return left_out | ({"x-note": self.note} if self.note else {})


@dataclass(frozen=True, slots=True)
class SkillCollection:
    """Skills of one or more projects, in the order of their precedence. `note` explains why there are no projects."""

    sources: tuple[_Source, ...]
    caller: str = ANYBODY
    name: str = ""
    note: str = ""

    def only(self, name: str) -> "SkillCollection":
        """Return a collection with this skill only, or raise NotFound."""
        collection = replace(self, name=normalise(name))
        collection.find(name)
        return collection

    def tag(self) -> str:
        return f"{built_in.snapshot().fingerprint} {[source.tag() for source in self.sources]} {self.name}"

    def find(self, name: str) -> tuple[int, Loaded]:
        """Return a skill and the id of its project. The listing picks the same one."""
        name = normalise(name)
        built_in_one: tuple[int, Loaded] | None = None
        for source in self.sources if self.name in ("", name) else ():
            try:
                loaded = catalog.load(source.project_id, name, allowed=source.allowed)
            except NotFound:
                continue
            if loaded.candidate.source != BUNDLED:
                return source.project_id, loaded
            built_in_one = built_in_one or (source.project_id, loaded)
        if built_in_one is None:
            raise NotFound("There is no such skill.")
        return built_in_one

    def listing(self, fault: Fault) -> Listing:
        """Return the listing for a format. `fault` returns why the format can't carry a skill, or nothing."""
        picked = precedence.across_projects((source, self._candidates(source)) for source in self.sources)
        loaded = sorted(self._load_all(picked.values()), key=lambda skill: skill.name)
        faults = {skill.name: fault(skill) for skill in loaded}
        left_out = []
        for source in self.sources:
            for candidate in self._candidates(source):
                first, winner = picked[candidate.name]
                reason = faults.get(candidate.name, "")
                if first is not source and winner.digest != candidate.digest:
                    reason = public_root.hidden_by(first.slug)
                if reason:
                    left_out.append({"name": candidate.name, "project": source.slug, "reason": reason})
        return Listing(tuple(skill for skill in loaded if not faults[skill.name]), left_out, self.note)

    def _load_all(self, picked: Iterable[tuple[_Source, Candidate]]) -> Iterator[Loaded]:
        by_project: dict[int, list[Candidate]] = {}
        for source, candidate in picked:
            by_project.setdefault(source.project_id, []).append(candidate)
        for project_id, candidates in by_project.items():
            for start in range(0, len(candidates), _CHUNK):
                yield from catalog.load_many(project_id, candidates[start : start + _CHUNK])

    def _candidates(self, source: _Source) -> Iterator[Candidate]:
        return (candidate for candidate in source.candidates() if self.name in ("", candidate.name))


def of_caller(caller: Caller) -> SkillCollection:
    source = _Source(caller.project_id, caller.project_slug, caller.revision, caller.last_event, caller.allowed)
    return SkillCollection((source,), caller.actor.name)


def of_site() -> SkillCollection:
    """Return the skills of the projects that the operator listed at the root."""
    sources = tuple(_Source(*project) for project in public_root.listed())
    return SkillCollection(sources, note="" if sources else _EMPTY_ROOT)


def of_project(slug: str) -> SkillCollection:
    """Return the skills of a public project. A private one gets NotFound, so that its name does not leak."""
    sources = tuple(_Source(*project) for project in public_root.public_projects(slug=slug))
    if not sources:
        raise NotFound("There is no public project at this address.")
    return SkillCollection(sources)


def kind_of(loaded: Loaded) -> str:
    return SKILL if len(loaded.files) == 1 else ARCHIVE


def artifact_digest(loaded: Loaded) -> str:
    """Return the digest of the file that a client downloads. The zip depends only on the bundle, so cache it."""
    if kind_of(loaded) == SKILL:
        return f"sha256:{loaded.entry(SKILL_MD).digest}"
    digest = _digests.get(loaded.candidate.digest)
    if digest is None:
        hashed = hashlib.sha256()
        for piece in zip_bundle.write_zip_stream((entry.path, loaded.read(entry)) for entry in _in_order(loaded)):
            hashed.update(piece)
        digest = f"sha256:{hashed.hexdigest()}"
        _digests.put(loaded.candidate.digest, digest)
    return digest


def _in_order(loaded: Loaded) -> list[FileEntry]:
    return sorted(loaded.files, key=lambda entry: entry.path.encode())
