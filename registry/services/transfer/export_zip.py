"""A project's skills as they leave it: one zip, or the files of a directory, the same bytes for the same skills."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import F

from registry.core import roles
from registry.core.archive import export_record, zip_bundle
from registry.core.archive.export_record import RECORD, Entry
from registry.core.bundle import FileEntry
from registry.models import Project, Version
from registry.services.catalog import built_in, catalog
from registry.services.catalog.catalog import Loaded
from registry.services.files import blobs
from registry.services.permissions import Actor, require

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Leaving:
    """One skill on its way out: what the record says of it, and its files, which are read when they are written."""

    entry: Entry
    loaded: Loaded

    @property
    def files(self) -> list[FileEntry]:
        return sorted(self.loaded.files, key=lambda file: file.path.encode())

    def read(self, file: FileEntry) -> bytes:
        """Past the memory for small files: what is read once and in bulk would push out what agents load."""
        skill = self.loaded.on_disk
        return built_in.index().read(skill, file) if skill else blobs.read_once(file)


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip that is made while it is sent; its length is known before."""

    length: int
    pieces: Iterator[bytes]


def leaving(
    project: Project, *, effective: bool = False, allowed: frozenset[str] | None = None, by: Actor
) -> tuple[Leaving, ...]:
    """The project's own skills in order of name, or with `effective` all that its agents get.

    Those that are switched off are among its own for people. For an agent they are not there, and neither are names
    beside the `allowed`.
    """
    require(by, roles.READ, project)
    found = _effective(project, allowed) if effective else _own(project, allowed, switched_off=by.kind != "agent")
    return tuple(sorted(found, key=lambda one: one.entry.name))


def _own(project: Project, allowed: frozenset[str] | None, *, switched_off: bool) -> Iterator[Leaving]:
    rows = Version.objects.available().filter(skill__project=project, skill__overrides=True, pk=F("skill__current_id"))
    for version in (rows if switched_off else rows.filter(skill__enabled=True)).select_related("skill"):
        if allowed is None or version.skill.name in allowed:
            yield _leaving(catalog.stored(version.skill.name, version), enabled=version.skill.enabled)


def _effective(project: Project, allowed: frozenset[str] | None) -> Iterator[Leaving]:
    revision = Project.objects.values_list("revision", flat=True).get(pk=project.pk)
    served = catalog.view(project.pk, revision, allowed=allowed).served
    return (_leaving(loaded, enabled=True) for loaded in catalog.load_many(project.pk, served))


def _leaving(loaded: Loaded, *, enabled: bool) -> Leaving:
    facts = loaded.candidate
    return Leaving(Entry(facts.name, facts.version, facts.digest, facts.source, enabled), loaded)


def export_zip(
    project: Project, *, effective: bool = False, allowed: frozenset[str] | None = None, by: Actor
) -> Archive:
    """One directory for each skill, and the record of them. What no zip can hold is refused before the first byte."""
    skills = leaving(project, effective=effective, allowed=allowed, by=by)
    record = export_record.write(skill.entry for skill in skills)
    sizes = [(RECORD, len(record))]
    sizes += [(f"{skill.entry.name}/{file.path}", file.size) for skill in skills for file in skill.files]
    length = zip_bundle.zip_length(sizes)
    return Archive(length, _in_pieces(zip_bundle.write_zip_stream(_contents(record, skills))))


def _contents(record: bytes, skills: Sequence[Leaving]) -> Iterator[tuple[str, bytes]]:
    yield RECORD, record
    for skill in skills:
        for file in skill.files:
            yield f"{skill.entry.name}/{file.path}", skill.read(file)


def _in_pieces(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Headers and small files together: a write to a socket for each would cost more than the files."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)
