"""Sources of a project: add, check, search and remove them, and start imports."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import AlreadyExists, Conflict, Forbidden, InvalidRequest, NotFound
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportRequest
from registry.models import Installation, Project, Proposal, Provenance, Source, SourceEntry, SourceJob
from registry.models.sources import (
    IMPORT,
    KINDS,
    LOOK,
    NEW,
    UPDATE,
    SourceEntryQuerySet,
    SourceJobQuerySet,
    SourceQuerySet,
)
from registry.remote import sources as remote
from registry.remote.sources import RemoteSource
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.permissions import Actor, reach, require
from registry.services.resolve import gate, outbound_http
from registry.services.skills import provenance
from registry.services.sources import source_entries, source_jobs

MOST = 50
MOST_WAITING = 20
_LABEL_CHARS = 100
_MIN_QUERY_CHARS, _MAX_QUERY_CHARS = 2, 200

# State of an entry in the project. Entries are matched by source and name, never by name alone.
AVAILABLE, INSTALLED, NEWER = "available", "installed", "update"


@dataclass(frozen=True, slots=True)
class EntryStatus:
    """A source entry and its state in the project.

    `taken` means that another skill has the name. `proposal` is the number of an open proposal to import it.
    """

    entry: SourceEntry
    state: str
    installation: Installation | None
    taken: bool
    proposal: int | None

    @property
    def edited(self) -> bool:
        return self.installation is not None and self.installation.edited


def add(project: Project, kind: str, address: str, *, ref: str = "", label: str = "", by: Actor) -> Source:
    """Add a source and start a job that checks it; see `latest_job`.

    A source that was removed earlier is restored, with its installations.
    """
    require(by, roles.WRITE, project)
    _require_person(by)
    remote_source, label = _validate(kind, address, ref), _clean_label(label)
    with audit.change(project, "source.added", by=by, target=remote_source.address.partition("?")[0][:200]) as change:
        if Source.objects.of(project).count() >= MOST:
            raise Conflict(f"The project has {MOST} sources. {MOST} are allowed. Nothing was saved.")
        source, created = Source.objects.get_or_create(
            project=project, kind=remote_source.kind, address=remote_source.address, ref=remote_source.ref,
            defaults={"label": label, "added_by_id": by.user_id},
        )  # fmt: skip
        if not created:
            _restore(source, label, by)
        change.data["source"] = provenance.audit_data(source)
        source_jobs.queue(source, LOOK, by=by)
    return source


def _validate(kind: str, address: str, ref: str) -> RemoteSource:
    if kind not in KINDS:
        raise InvalidRequest(f"There is no kind of source {kind[:40]!r}. There are: {', '.join(KINDS)}.", field="kind")
    for field, text in (("address", address), ("ref", ref)):
        if "\0" in text:
            raise InvalidRequest(f"The {field} has a NUL character. Remove it. Nothing was saved.", field=field)
    return remote.check(RemoteSource(kind, address.strip(), ref.strip()), allowed=outbound_http.allowed_hosts())


def _clean_label(label: str) -> str:
    label = " ".join(label.replace("\0", "").split())
    if len(label) > _LABEL_CHARS:
        message = f"The name has {len(label)} characters. {_LABEL_CHARS} are allowed. Nothing was saved."
        raise InvalidRequest(message, field="label")
    return label


def _restore(source: Source, label: str, by: Actor) -> None:
    if source.removed_at is None:
        message = f"{source} is already a source of this project. Nothing was saved."
        raise AlreadyExists(message, field="address", source=source.pk)
    source.removed_at, source.added_by_id, source.added_at = None, by.user_id, timezone.now()
    source.label, source.state, source.problem = label or source.label, NEW, ""
    source.save(update_fields=["removed_at", "added_by", "added_at", "label", "state", "problem"])


def _require_person(by: Actor) -> None:
    if by.agent_id is not None:
        raise Forbidden("Only people can add and remove sources, not agents.")


def remove(project: Project, source_id: int, *, by: Actor) -> None:
    """Remove a source. Imported skills stay with their history, but get no updates."""
    require(by, roles.WRITE, project)
    _require_person(by)
    with audit.change(project, "source.removed", by=by) as change:
        source = source_entries.find(project, source_id, by=by)
        change.target, change.data["source"] = source.shown[:200], provenance.audit_data(source)
        source.entries.all().delete()
        source.removed_at = timezone.now()
        source.save(update_fields=["removed_at"])


def look(project: Project, source_id: int, *, by: Actor) -> SourceJob:
    """Start a job that checks the source, or return the one that is unfinished."""
    source = find(project, source_id, by=by)
    with transaction.atomic():
        Source.objects.select_for_update().get(pk=source.pk)
        waiting = SourceJob.objects.unfinished().filter(source=source, kind=LOOK).order_by("pk").first()
        return waiting or source_jobs.queue(source, LOOK, by=by)


def start(
    project: Project, source_id: int, requests: Sequence[ImportRequest], *, update: bool = False, by: Actor
) -> SourceJob:
    """Start a job that imports or updates skills. Its items have the result of each."""
    source = find(project, source_id, by=by)
    checked = import_request.check_all(list(requests))
    with transaction.atomic():
        Source.objects.select_for_update().get(pk=source.pk)
        if SourceJob.objects.unfinished().filter(source=source).count() >= MOST_WAITING:
            raise Conflict(f"{source} has {MOST_WAITING} unfinished jobs. Wait until they finish. Nothing was saved.")
        return source_jobs.queue(source, UPDATE if update else IMPORT, checked, by=by)


def listed(project: Project, *, by: Actor) -> SourceQuerySet:
    """Return the sources with the number of their skills (`offered`) and of the installed ones (`installed`)."""
    require(by, roles.WRITE, project)
    return Source.objects.of(project).for_list().select_related("added_by")


def find(project: Project, source_id: int, *, by: Actor) -> Source:
    return source_entries.find(project, source_id, by=by)


def entries(project: Project, source_id: int, *, q: str = "", by: Actor) -> SourceEntryQuerySet:
    """Return the entries of a source, ordered by name. Pass a page of them to `with_state`."""
    source = find(project, source_id, by=by)
    return source.entries.matching(q.replace("\0", "")).for_list().defer("staged_manifest")


def search(project: Project, source_id: int, words: str, *, by: Actor) -> list[EntryStatus]:
    """Search the source itself now. A registry may have more skills than `entries` lists."""
    source = find(project, source_id, by=by)
    words = " ".join(words.replace("\0", "").split())
    if not _MIN_QUERY_CHARS <= len(words) <= _MAX_QUERY_CHARS:
        raise InvalidRequest(f"Enter {_MIN_QUERY_CHARS} to {_MAX_QUERY_CHARS} characters to search for.")
    with gate.shared_thread():
        found = source_entries.search(source, words)
    return with_state(source, found, by=by)


def with_state(source: Source, entries: Sequence[SourceEntry], *, by: Actor | None = None) -> list[EntryStatus]:
    """Return the entries with their state, in a fixed number of queries.

    An agent with a list does not learn which other skills the project has.
    """
    known = reach(by) if by is not None else None
    names = [entry.name for entry in entries if known is None or normalise(entry.name) in known]
    standing = Installation.objects.standing().filter(source=source, name__in=names)
    installed = {each.name: each for each in standing if known is None or each.skill.name in known}
    effective = catalog.find_each(source.project_id, names)
    proposals = dict(_open_proposals(source, names))
    return [
        EntryStatus(
            entry, _state(entry, installed.get(entry.name)), installed.get(entry.name),
            entry.name not in installed and normalise(entry.name) in effective, proposals.get(entry.name),
        )
        for entry in entries
    ]  # fmt: skip


def _state(entry: SourceEntry, installation: Installation | None) -> str:
    if installation is None:
        return AVAILABLE
    if entry.digest and installation.known_digest:
        newer = entry.digest != installation.known_digest
    else:
        newer = bool(entry.staged_digest) and entry.staged_digest != installation.known_bundle
    return NEWER if newer else INSTALLED


def _open_proposals(source: Source, names: Sequence[str]) -> QuerySet[Provenance, tuple[str, int | None]]:
    undecided = Proposal.objects.undecided().filter(project=source.project_id).values("pk")
    rows = Provenance.objects.filter(source=source, name__in=names, version=None, proposal__in=undecided)
    return rows.order_by("pk").values_list("name", "proposal")


def gone(source: Source) -> list[Installation]:
    """Return the installed skills that the source no longer has."""
    listed = source.entries.values("name")
    return list(Installation.objects.standing().filter(source=source).exclude(name__in=listed).order_by("name"))


def jobs(project: Project, source_id: int, *, by: Actor) -> SourceJobQuerySet:
    """Return the jobs of a source, newest first, with `total` and `done`."""
    return find(project, source_id, by=by).jobs.for_list()


def job(project: Project, source_id: int, job_id: int, *, by: Actor) -> SourceJob:
    """Return one job with `total` and `done`. An agent with a list sees only its own jobs."""
    visible = jobs(project, source_id, by=by)
    if reach(by) is not None:
        visible = visible.filter(agent=by.agent_id)
    found = visible.filter(pk=job_id).first()
    if found is None:
        raise NotFound("There is no such job.")
    return found


def latest_job(source: Source) -> SourceJob | None:
    return SourceJob.objects.for_list().filter(source=source).first()
