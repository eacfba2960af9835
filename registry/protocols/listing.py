"""The skills that one address offers for discovery: those of all public projects, of one project, or one skill."""

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
    """One project as one reader sees it."""

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
    """What clients can take, in order of name; and what is served and not listed, with the project and the reason."""

    skills: tuple[Loaded, ...]
    left_out: list[dict[str, str]]

    def said(self) -> dict[str, list[dict[str, str]]]:
        """For a document whose readers pass over what they do not know."""
        return {"x-left-out": self.left_out} if self.left_out else {}


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where two public projects have a skill of one name, the one whose address comes first stands on the shelf."""

    sources: tuple[_Source, ...]
    caller: str = ANYBODY
    name: str = ""

    def only(self, name: str) -> "Shelf":
        """The shelf with one skill; it must be there."""
        shelf = replace(self, name=normalise(name))
        shelf.load(name)
        return shelf

    def tag(self) -> str:
        return f"{built_in.snapshot().fingerprint} {[source.tag() for source in self.sources]} {self.name}"

    def load(self, name: str) -> Loaded:
        name = normalise(name)
        for source in self.sources if self.name in ("", name) else ():
            try:
                return catalog.load(source.project_id, name, allowed=source.allowed)
            except NotFound:
                continue
        raise NotFound("There is no such skill here.")

    def project_of(self, loaded: Loaded) -> int:
        """The project that gave the skill."""
        if len(self.sources) == 1:
            return self.sources[0].project_id
        return next(source.project_id for source, found in self._picked() if found.name == loaded.name)

    def listing(self, fault: Fault) -> Listing:
        """What stands here for a format that cannot carry everything."""
        picked = {found.name: (source, found) for source, found in self._picked()}
        loaded = sorted(self._load_all(picked.values()), key=lambda one: one.name)
        faults = {one.name: fault(one) for one in loaded}
        left_out = []
        for source in self.sources:
            for found in self._wanted(source):
                first, winner = picked[found.name]
                reason = faults.get(found.name, "")
                if first is not source and winner.digest != found.digest:
                    reason = f"A skill of this name is listed from the project {first.slug}."
                if reason:
                    left_out.append({"name": found.name, "project": source.slug, "reason": reason})
        return Listing(tuple(one for one in loaded if not faults[one.name]), left_out)

    def _load_all(self, picked: Iterable[tuple[_Source, Candidate]]) -> Iterator[Loaded]:
        chosen: dict[int, list[Candidate]] = {}
        for source, found in picked:
            chosen.setdefault(source.project_id, []).append(found)
        for project_id, wanted in chosen.items():
            for start in range(0, len(wanted), _CHUNK):
                yield from catalog.load_many(project_id, wanted[start : start + _CHUNK])

    def _picked(self) -> Iterator[tuple[_Source, Candidate]]:
        seen = set()
        for source in self.sources:
            for found in self._wanted(source):
                if found.name not in seen:
                    seen.add(found.name)
                    yield source, found

    def _wanted(self, source: _Source) -> Iterator[Candidate]:
        return (found for found in source.candidates() if self.name in ("", found.name))


def mine(caller: Caller) -> Shelf:
    source = _Source(caller.project_id, caller.project_slug, caller.revision, caller.last_event, caller.allowed)
    return Shelf((source,), caller.actor.name)


def of_site() -> Shelf:
    return Shelf(_public())


def of_project(slug: str) -> Shelf:
    """A project that is not public is not there."""
    found = _public(slug=slug)
    if not found:
        raise NotFound("There is no public project at this address.")
    return Shelf(found)


def _public(**where: str) -> tuple[_Source, ...]:
    rows = Project.objects.filter(public=True, archived_at=None, **where).order_by("slug")
    return tuple(_Source(*row) for row in rows.values_list("pk", "slug", "revision", "audit_chain__head"))


def kind_of(loaded: Loaded) -> str:
    return SKILL if len(loaded.files) == 1 else ARCHIVE


def artifact_digest(loaded: Loaded) -> str:
    """The digest of the bytes that a client downloads. The zip is a function of the bundle, so it is hashed once."""
    if kind_of(loaded) == SKILL:
        return f"sha256:{loaded.entry(SKILL_MD).digest}"
    kept = _digests.get(loaded.candidate.digest)
    if kept is None:
        hashed = hashlib.sha256()
        for piece in zip_bundle.write_zip_stream((entry.path, loaded.read(entry)) for entry in _in_order(loaded)):
            hashed.update(piece)
        kept = f"sha256:{hashed.hexdigest()}"
        _digests.put(loaded.candidate.digest, kept)
    return kept


def _in_order(loaded: Loaded) -> list[FileEntry]:
    return sorted(loaded.files, key=lambda entry: entry.path.encode())
