"""What a source offers: looked up and kept as rows, and single skills of it fetched, so that people can look inside."""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from registry.core import paths, roles
from registry.core.bundle import Bundle
from registry.core.errors import Conflict, NotFound, SkillsiteError, SourceFailed
from registry.core.text.printable import printable
from registry.models import Installation, Project, Source, SourceEntry
from registry.models.sources import EMPTY, READY, UNREACHABLE, UNUSABLE
from registry.remote import sources as remote
from registry.remote.sources import Failure, FetchedBundle, Listing, ListingEntry, RemoteSource
from registry.remote.sources.types import MOST_SKILLS
from registry.services.files import blobs
from registry.services.permissions import Actor, require
from registry.services.resolve import outbound_http

log = logging.getLogger(__name__)

STAGED_FOR = timedelta(days=7)
_DESCRIPTION_CHARS = 2_000
_SAID_CHARS = 200
_PROBLEMS, _PROBLEM_CHARS = 50, 500
_MOST_ENTRIES, _ASKED_BY_NAME = 5_000, 50
_LOOK_SECONDS = 60.0  # with what is under way by then, a look is over before its lease ends
_UNFORESEEN = "What it sent could not be read. The reason is in the log of the site."


@dataclass(frozen=True, slots=True)
class FetchedSkill:
    """One skill as its source gave it: the bundle untouched, version and digest in the source's words."""

    entry: SourceEntry
    bundle: Bundle
    version: str
    digest: str

    @property
    def newest(self) -> bool:
        """It is what the source had at the last look, and not what somebody had put aside before that."""
        return self.digest == self.entry.digest


def find(project: Project, source_id: int, *, by: Actor) -> Source:
    """One source of the project; that of another project is not there."""
    require(by, roles.WRITE, project)
    found = Source.objects.of(project).filter(pk=source_id).select_related("project", "added_by").first()
    if found is None:
        raise NotFound("There is no such source.")
    return found


def remote_source(source: Source) -> RemoteSource:
    return RemoteSource(source.kind, source.address, source.ref)


def look(source: Source, *, now: datetime) -> str:
    """Asks the source what it offers and writes that down. Returns why it could not, or nothing.

    What was known before stays known while a source cannot be reached. Nothing that a source sends ends a worker.
    """
    try:
        return _look(source, now=now)
    except Exception:
        log.exception("A source sent what nobody foresaw.")
        return _not_seen(source, UNUSABLE, _UNFORESEEN, now)


def _look(source: Source, *, now: datetime) -> str:
    try:
        listing = remote.listing(remote_source(source), allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS)
    except remote.Unreachable as failure:
        return _not_seen(source, UNREACHABLE, str(failure), now)
    except (Failure, SkillsiteError) as failure:
        return _not_seen(source, UNUSABLE, str(failure), now)
    listing = replace(listing, entries=(*listing.entries, *_beyond(source, listing)))
    with transaction.atomic():
        problems = [*listing.problems, *_write(source, listing, whole=True)]
        _noted(
            source, state=READY if source.entries.exists() else EMPTY, problem="", pin=listing.pin[:_SAID_CHARS],
            problems=[printable(text, _PROBLEM_CHARS) for text in problems[:_PROBLEMS]],
            checked_at=now, seen_at=now,
        )  # fmt: skip
    _look_inside(source)
    return ""


def _look_inside(source: Source) -> None:
    """Of a source that names no digests: what came from it, since only its bytes say whether it is another by now.

    As many as there is time for, those first that nobody looked at for longest. One that does not come stays as known.
    """
    names = Installation.objects.standing().filter(source=source).values("name")
    untold = source.entries.filter(digest="", name__in=names).order_by(F("staged_at").asc(nulls_first=True), "name")
    until = time.monotonic() + _LOOK_SECONDS
    found = list(untold.defer("staged_manifest"))
    for _ in fetch_all(source, found) if found else ():
        if time.monotonic() > until:
            return


def _not_seen(source: Source, state: str, reason: str, now: datetime) -> str:
    reason = printable(reason, _PROBLEM_CHARS)
    _noted(source, state=state, problem=reason, checked_at=now)
    return reason


def _noted(source: Source, **values: object) -> None:
    Source.objects.filter(pk=source.pk, removed_at=None).update(**values)
    source.refresh_from_db()


def search(source: Source, words: str) -> list[SourceEntry]:
    """Asks the source itself, which may have more than it lists; what it finds is kept until the next look."""
    try:
        found = remote.search(
            remote_source(source), words, allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS
        )
    except Failure as failure:
        raise SourceFailed(f"{source} could not be searched. {failure}") from failure
    with transaction.atomic():
        _write(source, found, whole=False)
        if SourceEntry.objects.filter(source=source).count() > _MOST_ENTRIES:
            raise Conflict(f"More than {_MOST_ENTRIES:,} skills of this source were found. Look at it anew first.")
    names = [listed.name for listed in found.entries]
    kept = {entry.name: entry for entry in source.entries.filter(name__in=names).defer("staged_manifest")}
    return [kept[name] for name in names if name in kept]


def _beyond(source: Source, listing: Listing) -> list[ListingEntry]:
    """Of a source that has more than it lists: what came from it and is not listed, asked for by name."""
    if len(listing.entries) < MOST_SKILLS:
        return []
    listed = {listed.name for listed in listing.entries}
    names = set(Installation.objects.standing().filter(source=source).values_list("name", flat=True)) - listed
    return [_newest(source, entry) for entry in source.entries.filter(name__in=names).order_by("name")[:_ASKED_BY_NAME]]


def _newest(source: Source, entry: SourceEntry) -> ListingEntry:
    """As the source has it now; as it was where the source does not say."""
    try:
        found = remote.search(
            remote_source(source), entry.name, allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS
        )
    except Failure:
        return _listing_entry(entry)
    return next((listed for listed in found.entries if listed.name == entry.name), _listing_entry(entry))


def _write(source: Source, listing: Listing, *, whole: bool) -> list[str]:
    """Inside a transaction: the rows become what was found, or that is added. Returns what could not be kept."""
    Source.objects.select_for_update().get(pk=source.pk)
    problems: list[str] = []
    entries = {listed.name: listed for listed in listing.entries if _usable(listed, problems)}
    known = {entry.name: entry for entry in SourceEntry.objects.filter(source=source).defer("staged_manifest")}
    if whole:
        SourceEntry.objects.filter(source=source, name__in=known.keys() - entries.keys()).delete()
    SourceEntry.objects.bulk_create(
        [
            SourceEntry(source=source, name=name, **_said(listed))
            for name, listed in entries.items()
            if name not in known
        ],
        batch_size=200,
    )
    changed = [_changed(known[name], listed) for name, listed in entries.items() if name in known]
    moved = [entry for entry in changed if entry is not None]
    SourceEntry.objects.bulk_update(moved, ["description", "version", "digest", "location"], batch_size=200)
    return problems


def _usable(listed: ListingEntry, problems: list[str]) -> bool:
    try:
        paths.check_component(listed.name, what="name")
    except SkillsiteError as error:
        problems.append(error.message)
        return False
    return True


def _said(listed: ListingEntry) -> dict[str, str]:
    return {
        "description": printable(listed.description, _DESCRIPTION_CHARS),
        "version": printable(listed.version, _SAID_CHARS),
        "digest": printable(listed.digest, _SAID_CHARS),
        "location": listed.location.replace("\0", ""),
    }


def _changed(entry: SourceEntry, listed: ListingEntry) -> SourceEntry | None:
    said = _said(listed)
    if all(getattr(entry, name) == value for name, value in said.items()):
        return None
    for name, value in said.items():
        setattr(entry, name, value)
    return entry


def entry(source: Source, name: str) -> SourceEntry:
    found = SourceEntry.objects.filter(source=source, name=name).first() if "\0" not in name else None
    if found is None:
        raise NotFound(f"{source} does not offer {paths.display(name)}. Look again whether it does now.")
    return found


def fetch(source: Source, entry: SourceEntry) -> FetchedSkill:
    """One skill from the source itself, put aside so that exactly this can be imported after somebody looked."""
    try:
        fetched = remote.fetch(
            remote_source(source),
            _listing_entry(entry),
            allowed=outbound_http.allowed_hosts(),
            limits=settings.LIMITS,
            pin=source.pin,
        )
    except Failure as failure:
        raise SourceFailed(f"{entry.name} could not be fetched. {failure} Nothing was stored.") from failure
    return stage(entry, fetched)


def fetch_all(source: Source, entries: Sequence[SourceEntry]) -> Iterator[tuple[SourceEntry, FetchedSkill | Exception]]:
    """Each entry with what came, or with why nothing did. One that fails costs none of the others."""
    by_name = {entry.name: entry for entry in entries}
    waiting = dict(by_name)
    try:
        for listed, came in _fetched(source, entries):
            entry = waiting.pop(listed.name)
            yield entry, came if isinstance(came, Exception) else stage(entry, came)
    except Failure as failure:
        for entry in waiting.values():
            yield entry, failure


def _fetched(
    source: Source, entries: Iterable[SourceEntry]
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    return remote.fetch_all(
        remote_source(source), [_listing_entry(entry) for entry in entries], allowed=outbound_http.allowed_hosts(),
        limits=settings.LIMITS, pin=source.pin,
    )  # fmt: skip


def _listing_entry(entry: SourceEntry) -> ListingEntry:
    return ListingEntry(entry.name, entry.description, entry.version, entry.digest, entry.location)


def stage(entry: SourceEntry, fetched: FetchedBundle) -> FetchedSkill:
    """Keeps the bytes, and says at the entry which they are."""
    blobs.put(fetched.bundle, now=timezone.now())
    entry.staged_digest = fetched.bundle.digest
    entry.staged_manifest = fetched.bundle.manifest
    entry.staged_version = printable(fetched.version, _SAID_CHARS)
    entry.staged_source_digest = printable(fetched.digest, _SAID_CHARS)
    entry.staged_at = timezone.now()
    SourceEntry.objects.filter(pk=entry.pk).update(
        staged_digest=entry.staged_digest, staged_manifest=entry.staged_manifest, staged_version=entry.staged_version,
        staged_source_digest=entry.staged_source_digest, staged_at=entry.staged_at,
    )  # fmt: skip
    return FetchedSkill(entry, fetched.bundle, entry.staged_version, entry.staged_source_digest)


def put_aside(source: Source, entries: Sequence[SourceEntry]) -> Iterator[str]:
    """Fetches them all, one after the other; yields a sentence for each that did not come."""
    for entry, came in fetch_all(source, entries) if entries else ():
        if isinstance(came, Exception):
            yield f"{entry.name} did not come. {came}"


def is_staged(entry: SourceEntry, digest: str = "") -> bool:
    """Put aside are the bytes of that digest, or without one those that the source had at the last look."""
    if digest:
        return entry.staged_digest == digest
    return bool(entry.staged_digest and entry.digest and entry.staged_source_digest == entry.digest)


def staged(entry: SourceEntry, digest: str = "") -> FetchedSkill | None:
    """What was put aside, where that is what is asked for."""
    if not is_staged(entry, digest):
        return None
    return FetchedSkill(entry, blobs.bundle(entry.staged_manifest), entry.staged_version, entry.staged_source_digest)


def sweep(*, now: datetime) -> int:
    """What nobody imported for a week is fetched again when somebody asks."""
    old = SourceEntry.objects.filter(staged_at__lt=now - STAGED_FOR)
    return old.update(staged_digest="", staged_manifest=(), staged_version="", staged_source_digest="", staged_at=None)
