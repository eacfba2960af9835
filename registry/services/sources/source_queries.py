"""Queries for the pages of sources, and for the provenance that the pages of a skill show."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from registry.core.bundle import normalise
from registry.core.catalog.precedence import BUNDLED
from registry.core.sources.import_request import FAILED, MOVED, ImportRequest
from registry.models import Installation, Project, Provenance, Source, SourceEntry, SourceJob, SourceJobItem, Version
from registry.services.catalog import catalog
from registry.services.sources import sources
from registry.services.sources.sources import NEWER, EntryStatus


def all_entries(source: Source) -> list[EntryStatus]:
    """Return the entries of the last check, ordered by name."""
    entries = SourceEntry.objects.filter(source=source).for_list().defer("staged_manifest", "location")
    return sources.with_state(source, list(entries))


def entries_named(source: Source, names: Sequence[str]) -> list[EntryStatus]:
    """Return the entries with these names, ordered by name. Unknown names are ignored."""
    entries = SourceEntry.objects.filter(source=source, name__in=names).for_list()
    return sources.with_state(source, list(entries.defer("staged_manifest", "location")))


def taken_by_built_in(source: Source, entries: Iterable[EntryStatus]) -> frozenset[str]:
    """Return the names of entries that conflict only with a built-in skill."""
    revision = Project.objects.values_list("revision", flat=True).get(pk=source.project_id)
    winners = {skill.name: skill.winner for skill in catalog.view(source.project_id, revision).skills}
    taken = {each.entry.name: winners.get(normalise(each.entry.name)) for each in entries if each.taken}
    return frozenset(name for name, winner in taken.items() if winner is not None and winner.source == BUNDLED)


def updates(project: Project) -> Counter[int]:
    """Return the number of installed skills with an update, by source id."""
    entries = SourceEntry.objects.filter(source=OuterRef("source"), name=OuterRef("name"))
    listed = entries.exclude(digest="").exclude(digest=OuterRef("known_digest"))
    staged = entries.exclude(staged_digest="").exclude(staged_digest=OuterRef("known_bundle"))
    rows = Installation.objects.filter(project=project, source__removed_at=None, skill__overrides=True)
    outdated = rows.exclude(known_digest="").filter(Exists(listed)) | rows.filter(Exists(staged.filter(digest="")))
    outdated |= rows.filter(known_digest="").filter(Exists(staged))
    return Counter(outdated.values_list("source_id", flat=True))


def unfinished(project: Project) -> dict[int, SourceJob]:
    """Return the oldest unfinished job by source id."""
    jobs = SourceJob.objects.filter(project=project).unfinished().order_by("-pk")
    return {job.source_id: job for job in jobs}


def items(job: SourceJob) -> list[SourceJobItem]:
    return list(SourceJobItem.objects.filter(job=job).order_by("position"))


def failed_requests(job: SourceJob) -> list[ImportRequest]:
    """Return the requests of a job that failed and are worth a retry."""
    rows = job.items.filter(status__in=(FAILED, MOVED)).order_by("position").values_list("asked", flat=True)
    return [ImportRequest(**asked) for asked in rows]


# -- On the pages of a skill ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InstallationStatus:
    """The installation of a skill, and whether the source has an update."""

    installation: Installation
    has_update: bool


def installation_status(project: Project, name: str) -> InstallationStatus | None:
    rows = Installation.objects.standing().filter(project=project, skill__name=name)
    installation = rows.select_related("base__user", "base__agent", "source", "skill__current").first()
    if installation is None:
        return None
    return InstallationStatus(
        installation, any(row.state == NEWER for row in entries_named(installation.source, [installation.name]))
    )


def provenance_of(versions: Iterable[Version]) -> dict[int, Provenance]:
    """Return the provenance of imported versions by version id."""
    rows = Provenance.objects.filter(version__in=[version.pk for version in versions]).select_related(
        "source", "user", "agent"
    )
    return {row.version_id: row for row in rows.defer("manifest") if row.version_id is not None}
