"""Skills for well-known discovery: of all public projects, of one project, or a single skill."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, FileEntry, normalise
from registry.core.catalog.precedence import Candidate
from registry.core.errors import NotFound
from registry.lib.lru import LruCache
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, catalog
from registry.services.catalog.catalog import Loaded

SKILL, ARCHIVE = "skill-md", "archive"
ANYBODY = "anybody"
_CHUNK = 200

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
        return self.project_id, self.revision, self.last_event, self.allowed and sorted(self.allowed)

    def candidates(self) -> tuple[Candidate, ...]:
        return catalog.view(self.project_id, self.revision, allowed=self.allowed).served


Fault = Callable[[Loaded], str]


@dataclass(frozen=True, slots=True)
class Listing:
    """Skills that the format can carry, sorted by name, and the others with their project and the reason."""

    skills: tuple[Loaded, ...]
    left_out: list[dict[str, str]]

    def as_json(self) -> dict[str, list[dict[str, str]]]:
        """Return the extension field for the index. Clients ignore fields that they do not know."""
        return {"x-left-out": self.left_out} if self.left_out else {}


@dataclass(frozen=True, slots=True)
class SkillCollection:
    """Skills of one or more projects. If two projects have a skill of one name, the first project wins."""

    sources: tuple[_Source, ...]
    caller: str = ANYBODY
    name: str = ""

    def only(self, name: str) -> "SkillCollection":
        """Return a collection with this skill only, or raise NotFound."""
        collection = replace(self, name=normalise(name))
        collection.load(name)
        return collection

    def tag(self) -> str:
        return f"{built_in.snapshot().fingerprint} {[source.tag() for source in self.sources]} {self.name}"

    def load(self, name: str) -> Loaded:
        name = normalise(name)
        for source in self.sources if self.name in ("", name) else ():
            try:
                return catalog.load(source.project_id, name, allowed=source.allowed)
            except NotFound:
                continue
        raise NotFound("There is no such skill.")

    def project_of(self, loaded: Loaded) -> int:
        """Return the id of the project that a skill is from."""
        if len(self.sources) == 1:
            return self.sources[0].project_id
        return next(source.project_id for source, candidate in self._picked() if candidate.name == loaded.name)

    def listing(self, fault: Fault) -> Listing:
        """Return the listing for a format. `fault` returns why the format can't carry a skill, or nothing."""
        picked = {candidate.name: (source, candidate) for source, candidate in self._picked()}
        loaded = sorted(self._load_all(picked.values()), key=lambda skill: skill.name)
        faults = {skill.name: fault(skill) for skill in loaded}
        left_out = []
        for source in self.sources:
            for candidate in self._candidates(source):
                first, winner = picked[candidate.name]
                reason = faults.get(candidate.name, "")
                if first is not source and winner.digest != candidate.digest:
                    reason = f"A skill of this name is listed from the project {first.slug}."
                if reason:
                    left_out.append({"name": candidate.name, "project": source.slug, "reason": reason})
        return Listing(tuple(skill for skill in loaded if not faults[skill.name]), left_out)

    def _load_all(self, picked: Iterable[tuple[_Source, Candidate]]) -> Iterator[Loaded]:
        by_project: dict[int, list[Candidate]] = {}
        for source, candidate in picked:
            by_project.setdefault(source.project_id, []).append(candidate)
        for project_id, candidates in by_project.items():
            for start in range(0, len(candidates), _CHUNK):
                yield from catalog.load_many(project_id, candidates[start : start + _CHUNK])

    def _picked(self) -> Iterator[tuple[_Source, Candidate]]:
        seen = set()
        for source in self.sources:
            for candidate in self._candidates(source):
                if candidate.name not in seen:
                    seen.add(candidate.name)
                    yield source, candidate

    def _candidates(self, source: _Source) -> Iterator[Candidate]:
        return (candidate for candidate in source.candidates() if self.name in ("", candidate.name))


def of_caller(caller: Caller) -> SkillCollection:
    source = _Source(caller.project_id, caller.project_slug, caller.revision, caller.last_event, caller.allowed)
    return SkillCollection((source,), caller.actor.name)


def of_site() -> SkillCollection:
    return SkillCollection(_public())


def of_project(slug: str) -> SkillCollection:
    """Return the skills of a public project. A private one gets NotFound, so that its name does not leak."""
    sources = _public(slug=slug)
    if not sources:
        raise NotFound("There is no public project at this address.")
    return SkillCollection(sources)


def _public(**where: str) -> tuple[_Source, ...]:
    rows = Project.objects.filter(public=True, archived_at=None, **where).order_by("slug")
    return tuple(_Source(*row) for row in rows.values_list("pk", "slug", "revision", "audit_chain__head"))


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
