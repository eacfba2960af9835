"""Sources of a project: people add and remove them, look what they offer, and ask for what they want of them."""

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
from registry.services.permissions import Actor, require
from registry.services.resolve import outbound_http
from registry.services.skills import provenance
from registry.services.sources import source_entries, source_jobs

MOST = 50
MOST_WAITING = 20
_LABEL_CHARS = 100
_LEAST, _MOST_CHARS = 2, 200

# How an entry stands to the project, by source and name and never by name alone.
AVAILABLE, INSTALLED, NEWER = "available", "installed", "update"


@dataclass(frozen=True, slots=True)
class EntryStatus:
    """An entry of a source, and what the project has of it.

    `state` is `available`, `installed`, or `update` where the source has something newer; `taken` says that a skill of
    that name stands which did not come from here; `proposal` is the number of one that waits to bring it in.
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
    """A new source, which the worker looks at next: `latest_job` tells how that goes.

    One that was removed earlier is taken up again, with what came from it.
    """
    require(by, roles.WRITE, project)
    _require_person(by)
    remote_source, label = _checked(kind, address, ref), _label(label)
    with audit.change(project, "source.added", by=by, target=remote_source.address.partition("?")[0][:200]) as change:
        if Source.objects.of(project).count() >= MOST:
            raise Conflict(f"The project has {MOST} sources. {MOST} are allowed. Nothing was stored.")
        source, made = Source.objects.get_or_create(
            project=project, kind=remote_source.kind, address=remote_source.address, ref=remote_source.ref,
            defaults={"label": label, "added_by_id": by.user_id},
        )  # fmt: skip
        if not made:
            _take_up(source, label, by)
        change.data["source"] = provenance.audit_data(source)
        source_jobs.queue(source, LOOK, by=by)
    return source


def _checked(kind: str, address: str, ref: str) -> RemoteSource:
    if kind not in KINDS:
        raise InvalidRequest(f"There is no kind of source {kind[:40]!r}. There are: {', '.join(KINDS)}.", field="kind")
    for field, text in (("address", address), ("ref", ref)):
        if "\0" in text:
            raise InvalidRequest(f"The {field} has a NUL character. Remove it. Nothing was stored.", field=field)
    return remote.check(RemoteSource(kind, address.strip(), ref.strip()), allowed=outbound_http.allowed_hosts())


def _label(label: str) -> str:
    label = " ".join(label.replace("\0", "").split())
    if len(label) > _LABEL_CHARS:
        message = f"The name has {len(label)} characters. {_LABEL_CHARS} are allowed. Nothing was stored."
        raise InvalidRequest(message, field="label")
    return label


def _take_up(source: Source, label: str, by: Actor) -> None:
    if source.removed_at is None:
        message = f"{source} is already a source of this project. Nothing was stored."
        raise AlreadyExists(message, field="address", source=source.pk)
    source.removed_at, source.added_by_id, source.added_at = None, by.user_id, timezone.now()
    source.label, source.state, source.problem = label or source.label, NEW, ""
    source.save(update_fields=["removed_at", "added_by", "added_at", "label", "state", "problem"])


def _require_person(by: Actor) -> None:
    if by.agent_id is not None:
        raise Forbidden("Sources are added and removed by people.")


def remove(project: Project, source_id: int, *, by: Actor) -> None:
    """Nobody looks there any more. The skills that came from it stay, with their history; they are not updated."""
    require(by, roles.WRITE, project)
    _require_person(by)
    with audit.change(project, "source.removed", by=by) as change:
        source = source_entries.find(project, source_id, by=by)
        change.target, change.data["source"] = source.shown[:200], provenance.audit_data(source)
        source.entries.all().delete()
        source.removed_at = timezone.now()
        source.save(update_fields=["removed_at"])


def look(project: Project, source_id: int, *, by: Actor) -> SourceJob:
    """The worker asks the source anew what it offers. A look that waits or is under way already is joined."""
    source = find(project, source_id, by=by)
    with transaction.atomic():
        Source.objects.select_for_update().get(pk=source.pk)
        waiting = SourceJob.objects.unfinished().filter(source=source, kind=LOOK).order_by("pk").first()
        return waiting or source_jobs.queue(source, LOOK, by=by)


def start(
    project: Project, source_id: int, wanted: Sequence[ImportRequest], *, update: bool = False, by: Actor
) -> SourceJob:
    """The worker imports or updates skill by skill; the items of the job tell what came of each."""
    source = find(project, source_id, by=by)
    checked = import_request.check_all(list(wanted))
    with transaction.atomic():
        Source.objects.select_for_update().get(pk=source.pk)
        if SourceJob.objects.unfinished().filter(source=source).count() >= MOST_WAITING:
            raise Conflict(f"{MOST_WAITING} jobs of {source} are waiting already. Let them finish. Nothing was stored.")
        return source_jobs.queue(source, UPDATE if update else IMPORT, checked, by=by)


def listed(project: Project, *, by: Actor) -> SourceQuerySet:
    """With `offered` and `installed`, how many skills each offers and how many of them the project has."""
    require(by, roles.WRITE, project)
    return Source.objects.of(project).for_list().select_related("added_by")


def find(project: Project, source_id: int, *, by: Actor) -> Source:
    return source_entries.find(project, source_id, by=by)


def entries(project: Project, source_id: int, *, q: str = "", by: Actor) -> SourceEntryQuerySet:
    """What a source offers, in order of name; for a page of it see `with_state`."""
    source = find(project, source_id, by=by)
    return source.entries.matching(q.replace("\0", "")).for_list().defer("staged_manifest")


def search(project: Project, source_id: int, words: str, *, by: Actor) -> list[EntryStatus]:
    """Asks the source itself, now: a registry may have more than it lists. `entries` has what it lists."""
    source = find(project, source_id, by=by)
    words = " ".join(words.replace("\0", "").split())
    if not _LEAST <= len(words) <= _MOST_CHARS:
        raise InvalidRequest(f"Search for {_LEAST} characters or more, and {_MOST_CHARS} at most.")
    return with_state(source, source_entries.search(source, words))


def with_state(source: Source, shown: Sequence[SourceEntry]) -> list[EntryStatus]:
    """The entries of one page with what the project has of each, in a fixed number of queries."""
    names = [entry.name for entry in shown]
    installed = {each.name: each for each in Installation.objects.standing().filter(source=source, name__in=names)}
    effective = catalog.find_each(source.project_id, names)
    waiting = dict(_waiting(source, names))
    return [
        EntryStatus(
            entry, _state(entry, installed.get(entry.name)), installed.get(entry.name),
            entry.name not in installed and normalise(entry.name) in effective, waiting.get(entry.name),
        )
        for entry in shown
    ]  # fmt: skip


def _state(entry: SourceEntry, installation: Installation | None) -> str:
    if installation is None:
        return AVAILABLE
    if entry.digest and installation.known_digest:
        newer = entry.digest != installation.known_digest
    else:
        newer = bool(entry.staged_digest) and entry.staged_digest != installation.known_bundle
    return NEWER if newer else INSTALLED


def _waiting(source: Source, names: Sequence[str]) -> QuerySet[Provenance, tuple[str, int | None]]:
    undecided = Proposal.objects.undecided().filter(project=source.project_id).values("pk")
    found = Provenance.objects.filter(source=source, name__in=names, version=None, proposal__in=undecided)
    return found.order_by("pk").values_list("name", "proposal")


def gone(source: Source) -> list[Installation]:
    """What came from the source and is not offered there any more."""
    offered = source.entries.values("name")
    return list(Installation.objects.standing().filter(source=source).exclude(name__in=offered).order_by("name"))


def jobs(project: Project, source_id: int, *, by: Actor) -> SourceJobQuerySet:
    """Newest first, with `total` and `done`."""
    return find(project, source_id, by=by).jobs.for_list()


def job(project: Project, source_id: int, job_id: int, *, by: Actor) -> SourceJob:
    """One job with `total` and `done`; its `items` in order of `position` say what came of each skill."""
    found = jobs(project, source_id, by=by).filter(pk=job_id).first()
    if found is None:
        raise NotFound("There is no such job.")
    return found


def latest_job(source: Source) -> SourceJob | None:
    return SourceJob.objects.for_list().filter(source=source).first()
