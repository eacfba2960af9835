"""Export of a project's skills as a deterministic zip."""

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
from registry.services.transfer import routing_transfer

_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """One skill to export. Its files are read only when they are written."""

    entry: Entry
    loaded: Loaded

    @property
    def files(self) -> list[FileEntry]:
        return sorted(self.loaded.files, key=lambda file: file.path.encode())

    def read(self, file: FileEntry) -> bytes:
        """Read a file without the cache, because a bulk read would evict the files that agents load."""
        skill = self.loaded.on_disk
        return built_in.index().read(skill, file) if skill else blobs.read_once(file)


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip that is created while it is sent. `length` is known before."""

    length: int
    chunks: Iterator[bytes]


def skills_to_export(
    project: Project, *, effective: bool = False, allowed: frozenset[str] | None = None, by: Actor
) -> tuple[ExportEntry, ...]:
    """Return the project's own skills by name, or with `effective` all skills that its agents get.

    People also get disabled skills. Agents get only enabled skills, and only names in `allowed`.
    """
    require(by, roles.READ, project)
    entries = _effective(project, allowed) if effective else _own(project, allowed, include_disabled=by.kind != "agent")
    return tuple(sorted(entries, key=lambda each: each.entry.name))


def _own(project: Project, allowed: frozenset[str] | None, *, include_disabled: bool) -> Iterator[ExportEntry]:
    rows = Version.objects.available().filter(skill__project=project, skill__overrides=True, pk=F("skill__current_id"))
    for version in (rows if include_disabled else rows.filter(skill__enabled=True)).select_related("skill"):
        if allowed is None or version.skill.name in allowed:
            yield _export_entry(catalog.stored(version.skill.name, version), enabled=version.skill.enabled)


def _effective(project: Project, allowed: frozenset[str] | None) -> Iterator[ExportEntry]:
    revision = Project.objects.values_list("revision", flat=True).get(pk=project.pk)
    served = catalog.view(project.pk, revision, allowed=allowed).served
    return (_export_entry(loaded, enabled=True) for loaded in catalog.load_many(project.pk, served))


def _export_entry(loaded: Loaded, *, enabled: bool) -> ExportEntry:
    facts = loaded.candidate
    return ExportEntry(Entry(facts.name, facts.version, facts.digest, facts.source, enabled), loaded)


def export_zip(
    project: Project, *, effective: bool = False, allowed: frozenset[str] | None = None, by: Actor
) -> Archive:
    """Return a zip with one directory for each skill and a record. Raise TooLarge before the first byte is sent."""
    skills = skills_to_export(project, effective=effective, allowed=allowed, by=by)
    record = record_of(project, skills, effective=effective, by=by)
    sizes = [(RECORD, len(record))]
    sizes += [(f"{skill.entry.name}/{file.path}", file.size) for skill in skills for file in skill.files]
    length = zip_bundle.zip_length(sizes)
    return Archive(length, _chunks(zip_bundle.write_zip_stream(_contents(record, skills))))


def record_of(project: Project, skills: Sequence[ExportEntry], *, effective: bool, by: Actor) -> bytes:
    """Return the record of an export.

    The effective skills go to agents, so their export never contains test questions.
    """
    parts = {} if effective else routing_transfer.exported(project, by=by)
    return export_record.write((skill.entry for skill in skills), parts)


def _contents(record: bytes, skills: Sequence[ExportEntry]) -> Iterator[tuple[str, bytes]]:
    yield RECORD, record
    for skill in skills:
        for file in skill.files:
            yield f"{skill.entry.name}/{file.path}", skill.read(file)


def _chunks(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Join small parts to chunks, because each write to a socket is expensive."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        if len(waiting) >= _CHUNK:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)
