"""Entries of a source: check the source, store its entries, fetch and stage their skills."""

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
_TEXT_CHARS = 200
_PROBLEMS, _PROBLEM_CHARS = 50, 500
_MOST_ENTRIES, _ASKED_BY_NAME = 5_000, 50
_LOOK_SECONDS = 60.0  # the check, with a fetch that is still running then, ends before the lease does
_UNEXPECTED = "We couldn’t read the response. The reason is in the log of the site."


@dataclass(frozen=True, slots=True)
class FetchedSkill:
    """A skill as the source has it. `version` and `digest` are those of the source."""

    entry: SourceEntry
    bundle: Bundle
    version: str
    digest: str

    @property
    def newest(self) -> bool:
        """Return whether this is the content of the last check, not older staged content."""
        return self.digest == self.entry.digest


def find(project: Project, source_id: int, *, by: Actor) -> Source:
    """Return a source of the project. Raise NotFound for a source of another project."""
    require(by, roles.WRITE, project)
    source = Source.objects.of(project).filter(pk=source_id).select_related("project", "added_by").first()
    if source is None:
        raise NotFound("There is no such source.")
    return source


def remote_source(source: Source) -> RemoteSource:
    return RemoteSource(source.kind, source.address, source.ref)


def look(source: Source, *, now: datetime) -> str:
    """Check the source and store its entries. Return the problem, or an empty string.

    If the source is unreachable, the known entries stay. No response of a source may crash a worker.
    """
    try:
        return _look(source, now=now)
    except Exception:
        log.exception("Checking a source failed unexpectedly.")
        return _store_problem(source, UNUSABLE, _UNEXPECTED, now)


def _look(source: Source, *, now: datetime) -> str:
    try:
        listing = remote.listing(remote_source(source), allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS)
    except remote.Unreachable as failure:
        return _store_problem(source, UNREACHABLE, str(failure), now)
    except (Failure, SkillsiteError) as failure:
        return _store_problem(source, UNUSABLE, str(failure), now)
    listing = replace(listing, entries=(*listing.entries, *_unlisted(source, listing)))
    with transaction.atomic():
        problems = [*listing.problems, *_write(source, listing, whole=True)]
        _update(
            source, state=READY if source.entries.exists() else EMPTY, problem="", pin=listing.pin[:_TEXT_CHARS],
            problems=[printable(text, _PROBLEM_CHARS) for text in problems[:_PROBLEMS]],
            checked_at=now, seen_at=now,
        )  # fmt: skip
    _stage_installed(source)
    return ""


def _stage_installed(source: Source) -> None:
    """Fetch installed skills of a source without digests, because only their content shows an update.

    Fetches as many as there is time for, the least recently fetched first. Failures are ignored.
    """
    names = Installation.objects.standing().filter(source=source).values("name")
    without_digest = source.entries.filter(digest="", name__in=names).order_by(
        F("staged_at").asc(nulls_first=True), "name"
    )
    until = time.monotonic() + _LOOK_SECONDS
    entries = list(without_digest.defer("staged_manifest"))
    for _ in fetch_all(source, entries) if entries else ():
        if time.monotonic() > until:
            return


def _store_problem(source: Source, state: str, reason: str, now: datetime) -> str:
    reason = printable(reason, _PROBLEM_CHARS)
    _update(source, state=state, problem=reason, checked_at=now)
    return reason


def _update(source: Source, **values: object) -> None:
    Source.objects.filter(pk=source.pk, removed_at=None).update(**values)
    source.refresh_from_db()


def search(source: Source, words: str) -> list[SourceEntry]:
    """Search the source itself, which may have more than it lists. Results are kept until the next check."""
    try:
        found = remote.search(
            remote_source(source), words, allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS
        )
    except Failure as failure:
        raise SourceFailed(f"We couldn’t search {source}. {failure}") from failure
    with transaction.atomic():
        _write(source, found, whole=False)
        if SourceEntry.objects.filter(source=source).count() > _MOST_ENTRIES:
            raise Conflict(f"More than {_MOST_ENTRIES:,} skills of this source are known. Check it again first.")
    names = [listed.name for listed in found.entries]
    kept = {entry.name: entry for entry in source.entries.filter(name__in=names).defer("staged_manifest")}
    return [kept[name] for name in names if name in kept]


def _unlisted(source: Source, listing: Listing) -> list[ListingEntry]:
    """Return installed skills that a long listing leaves out, searched by name."""
    if len(listing.entries) < MOST_SKILLS:
        return []
    listed = {listed.name for listed in listing.entries}
    names = set(Installation.objects.standing().filter(source=source).values_list("name", flat=True)) - listed
    return [_newest(source, entry) for entry in source.entries.filter(name__in=names).order_by("name")[:_ASKED_BY_NAME]]


def _newest(source: Source, entry: SourceEntry) -> ListingEntry:
    """Return the entry as the source has it now, or the stored one if the search fails."""
    try:
        found = remote.search(
            remote_source(source), entry.name, allowed=outbound_http.allowed_hosts(), limits=settings.LIMITS
        )
    except Failure:
        return _listing_entry(entry)
    return next((listed for listed in found.entries if listed.name == entry.name), _listing_entry(entry))


def _write(source: Source, listing: Listing, *, whole: bool) -> list[str]:
    """Store the listing: replace all entries if `whole`, else add to them. Return the problems.

    Call inside a transaction.
    """
    Source.objects.select_for_update().get(pk=source.pk)
    problems: list[str] = []
    entries = {listed.name: listed for listed in listing.entries if _usable(listed, problems)}
    known = {entry.name: entry for entry in SourceEntry.objects.filter(source=source).defer("staged_manifest")}
    if whole:
        SourceEntry.objects.filter(source=source, name__in=known.keys() - entries.keys()).delete()
    SourceEntry.objects.bulk_create(
        [
            SourceEntry(source=source, name=name, **_fields(listed))
            for name, listed in entries.items()
            if name not in known
        ],
        batch_size=200,
    )
    changed = [_update_entry(known[name], listed) for name, listed in entries.items() if name in known]
    SourceEntry.objects.bulk_update(
        [entry for entry in changed if entry is not None],
        ["description", "version", "digest", "location"],
        batch_size=200,
    )
    return problems


def _usable(listed: ListingEntry, problems: list[str]) -> bool:
    try:
        paths.check_component(listed.name, what="name")
    except SkillsiteError as error:
        problems.append(error.message)
        return False
    return True


def _fields(listed: ListingEntry) -> dict[str, str]:
    return {
        "description": printable(listed.description, _DESCRIPTION_CHARS),
        "version": printable(listed.version, _TEXT_CHARS),
        "digest": printable(listed.digest, _TEXT_CHARS),
        "location": listed.location.replace("\0", ""),
    }


def _update_entry(entry: SourceEntry, listed: ListingEntry) -> SourceEntry | None:
    fields = _fields(listed)
    if all(getattr(entry, name) == value for name, value in fields.items()):
        return None
    for name, value in fields.items():
        setattr(entry, name, value)
    return entry


def entry(source: Source, name: str) -> SourceEntry:
    found = SourceEntry.objects.filter(source=source, name=name).first() if "\0" not in name else None
    if found is None:
        raise NotFound(f"{source} has no skill {paths.display(name)}. Check the source again.")
    return found


def fetch(source: Source, entry: SourceEntry) -> FetchedSkill:
    """Fetch one skill and stage it, so that the import uses exactly the previewed content."""
    try:
        fetched = remote.fetch(
            remote_source(source),
            _listing_entry(entry),
            allowed=outbound_http.allowed_hosts(),
            limits=settings.LIMITS,
            pin=source.pin,
        )
    except Failure as failure:
        raise SourceFailed(f"We couldn’t fetch {entry.name}. {failure} Nothing was saved.") from failure
    return stage(entry, fetched)


def fetch_all(source: Source, entries: Sequence[SourceEntry]) -> Iterator[tuple[SourceEntry, FetchedSkill | Exception]]:
    """Yield each entry with its staged skill or its error. One failure does not stop the others."""
    by_name = {entry.name: entry for entry in entries}
    waiting = dict(by_name)
    try:
        for listed, result in _fetch_all(source, entries):
            entry = waiting.pop(listed.name)
            yield entry, result if isinstance(result, Exception) else stage(entry, result)
    except Failure as failure:
        for entry in waiting.values():
            yield entry, failure


def _fetch_all(
    source: Source, entries: Iterable[SourceEntry]
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    return remote.fetch_all(
        remote_source(source), [_listing_entry(entry) for entry in entries], allowed=outbound_http.allowed_hosts(),
        limits=settings.LIMITS, pin=source.pin,
    )  # fmt: skip


def _listing_entry(entry: SourceEntry) -> ListingEntry:
    return ListingEntry(entry.name, entry.description, entry.version, entry.digest, entry.location)


def stage(entry: SourceEntry, fetched: FetchedBundle) -> FetchedSkill:
    """Store the files and reference them from the entry."""
    blobs.put(fetched.bundle, now=timezone.now())
    entry.staged_digest = fetched.bundle.digest
    entry.staged_manifest = fetched.bundle.manifest
    entry.staged_version = printable(fetched.version, _TEXT_CHARS)
    entry.staged_source_digest = printable(fetched.digest, _TEXT_CHARS)
    entry.staged_at = timezone.now()
    SourceEntry.objects.filter(pk=entry.pk).update(
        staged_digest=entry.staged_digest, staged_manifest=entry.staged_manifest, staged_version=entry.staged_version,
        staged_source_digest=entry.staged_source_digest, staged_at=entry.staged_at,
    )  # fmt: skip
    return FetchedSkill(entry, fetched.bundle, entry.staged_version, entry.staged_source_digest)


def stage_all(source: Source, entries: Sequence[SourceEntry]) -> Iterator[str]:
    """Fetch and stage the entries. Yield a sentence for each that failed."""
    for entry, result in fetch_all(source, entries) if entries else ():
        if isinstance(result, Exception):
            yield f"{entry.name} failed. {result}"


def is_staged(entry: SourceEntry, digest: str = "") -> bool:
    """Return whether the content with this digest is staged, or without a digest, that of the last check."""
    if digest:
        return entry.staged_digest == digest
    return bool(entry.staged_digest and entry.digest and entry.staged_source_digest == entry.digest)


def staged(entry: SourceEntry, digest: str = "") -> FetchedSkill | None:
    """Return the staged skill, or None if it does not have this digest."""
    if not is_staged(entry, digest):
        return None
    return FetchedSkill(entry, blobs.bundle(entry.staged_manifest), entry.staged_version, entry.staged_source_digest)


def sweep(*, now: datetime) -> int:
    """Forget content that was staged a week ago. It is fetched again when it is needed."""
    old = SourceEntry.objects.filter(staged_at__lt=now - STAGED_FOR)
    return old.update(staged_digest="", staged_manifest=(), staged_version="", staged_source_digest="", staged_at=None)
