"""What pages show of sources beside the sources themselves: what waits, what is behind, where a skill came from."""

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


def offered(source: Source) -> list[EntryStatus]:
    """All that a source offered at the last look, in order of name."""
    entries = SourceEntry.objects.filter(source=source).for_list().defer("staged_manifest", "location")
    return sources.with_state(source, list(entries))


def named(source: Source, names: Sequence[str]) -> list[EntryStatus]:
    """Those of the names that the source offers, in order of name."""
    entries = SourceEntry.objects.filter(source=source, name__in=names).for_list()
    return sources.with_state(source, list(entries.defer("staged_manifest", "location")))


def only_bundled(source: Source, shown: Iterable[EntryStatus]) -> frozenset[str]:
    """The names that only a bundled skill stands in the way of."""
    revision = Project.objects.values_list("revision", flat=True).get(pk=source.project_id)
    winners = {outcome.name: outcome.winner for outcome in catalog.view(source.project_id, revision).skills}
    taken = {row.entry.name: winners.get(normalise(row.entry.name)) for row in shown if row.taken}
    return frozenset(name for name, winner in taken.items() if winner is not None and winner.source == BUNDLED)


def updates(project: Project) -> Counter[int]:
    """By source, how many of its skills changed there since they came."""
    entries = SourceEntry.objects.filter(source=OuterRef("source"), name=OuterRef("name"))
    told = entries.exclude(digest="").exclude(digest=OuterRef("known_digest"))
    looked = entries.exclude(staged_digest="").exclude(staged_digest=OuterRef("known_bundle"))
    rows = Installation.objects.filter(project=project, source__removed_at=None, skill__overrides=True)
    behind = rows.exclude(known_digest="").filter(Exists(told)) | rows.filter(Exists(looked.filter(digest="")))
    behind |= rows.filter(known_digest="").filter(Exists(looked))
    return Counter(behind.values_list("source_id", flat=True))


def unfinished(project: Project) -> dict[int, SourceJob]:
    """By source, what the worker has to do next."""
    jobs = SourceJob.objects.filter(project=project).unfinished().order_by("-pk")
    return {job.source_id: job for job in jobs}


def items(job: SourceJob) -> list[SourceJobItem]:
    return list(SourceJobItem.objects.filter(job=job).order_by("position"))


def again(job: SourceJob) -> list[ImportRequest]:
    """What a job could not do and may be able to do now, as it was asked for."""
    rows = job.items.filter(status__in=(FAILED, MOVED)).order_by("position").values_list("asked", flat=True)
    return [ImportRequest(**asked) for asked in rows]


# -- On the pages of a skill ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a skill of the project came from, and whether the source has something newer."""

    installed: Installation
    behind: bool


def lineage(project: Project, name: str) -> Lineage | None:
    rows = Installation.objects.standing().filter(project=project, skill__name=name)
    found = rows.select_related("base__user", "base__agent", "source", "skill__current").first()
    if found is None:
        return None
    return Lineage(found, any(row.state == NEWER for row in named(found.source, [found.name])))


def origins(versions: Iterable[Version]) -> dict[int, Provenance]:
    """Where each of these versions came from, as far as they came from somewhere."""
    rows = Provenance.objects.filter(version__in=[version.pk for version in versions]).select_related(
        "source", "user", "agent"
    )
    return {row.version_id: row for row in rows.defer("manifest") if row.version_id is not None}
