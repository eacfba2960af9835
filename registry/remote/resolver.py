"""Resolve definitions to cached skills: inline text, else the cache, else S3, else the web.

A definition that fails is skipped, logged and returned with its reason. It does not stop the others.
"""

import logging
import os
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from registry.core import paths
from registry.core.archive.skill_root import EXPECTED_AT_ROOT, MISSING_RULES
from registry.core.bundle import Bundle, FileEntry
from registry.core.errors import Busy, SkillsiteError
from registry.core.limits import DEFAULT, Limits
from registry.core.resolve import definitions
from registry.core.resolve.definitions import INLINE, Definition, Entry, Malformed
from registry.remote import checks, download, fetching, s3
from registry.remote.budget import Budget, Exceeded
from registry.remote.cache import Cache, CachedSkill, charge
from registry.remote.checks import CheckTime
from registry.remote.flights import Claims, Flight, Flights
from registry.remote.outbound_http import NO_HOSTS, Failure
from registry.remote.quota import Quota
from registry.remote.reach import Bounds, Gate, OpenGate, Reach

log = logging.getLogger(__name__)

Status = Literal["loaded", "cached", "skipped"]
_DIFFERENT_CONTENT = "Another entry in this request has the same name and version but different content."
_CRASHED = "Unexpected error. The reason is in the log of the site."
_OFFLINE = "Offline, and this skill is not in the cache."
_RETRY_SECONDS = 5

_flights = Flights()


@dataclass(frozen=True, slots=True)
class Resolved:
    """Result for one definition. All fields after `reason` are empty if it was skipped."""

    name: str
    version: str
    status: Status
    reason: str = ""
    directory: Path | None = None
    digest: str = ""
    description: str = ""
    tokens: int = 0
    files: tuple[FileEntry, ...] = ()
    origin: str = ""


@dataclass
class _Group:
    """Entries with the same name and version, resolved in order. They must have the same content."""

    waiting: list[tuple[int, Definition]] = field(default_factory=list)
    current: CachedSkill | None = None
    failed: dict[tuple[str, str], str] = field(default_factory=dict)


class _Skip(Exception):
    """An entry is skipped. The message is a sentence."""


class _NotAdmitted(Exception):
    """A download is needed, but the call was only admitted to wait for downloads of other calls."""


def resolve(
    payload: object,
    *,
    root: Path | str | None = None,
    allowed: frozenset[str] = NO_HOSTS,
    storage: s3.Storage | None = None,
    limits: Limits = DEFAULT,
    bounds: Bounds | None = None,
    gate: Gate | None = None,
    quota: Quota | None = None,
    by: str = "",
    online: bool = True,
) -> list[Resolved]:
    """Return one result for each active entry, in order. `payload` is parsed by `definitions.parse`.

    Raise InvalidRequest only for the whole request: if it has no list or too many definitions. Raise the error of the
    gate if it refuses a download. `by` is recorded as the owner of new copies.
    """
    bounds = bounds or Bounds()
    reach = Reach(allowed, storage or s3.Storage(), limits, bounds, gate or OpenGate(), quota, online)
    entries = definitions.parse(payload, most=bounds.most)
    return _Resolution(Cache(storage_root(root), limits=limits, by=by), reach, entries).resolve_all()


def storage_root(root: Path | str | None = None) -> Path:
    """Return the argument, else PERSISTENT_VOLUME_STORAGE, else /data."""
    return Path(root or os.environ.get("PERSISTENT_VOLUME_STORAGE") or "/data")


class _Resolution:
    """One call. Cached skills are resolved in this thread, the others are fetched in a thread pool."""

    def __init__(self, cache: Cache, reach: Reach, entries: Sequence[Entry]) -> None:
        self._cache, self._reach, self._entries = cache, reach, entries
        self._deadline = time.monotonic() + reach.bounds.all
        self._budget = Budget(reach.bounds.bytes)
        self._results: dict[int, Resolved] = {}
        texts = (one.content for one in entries if isinstance(one, Definition))
        inline = [len(text.encode()) for text in texts if text is not None]
        self._check_time = CheckTime(reach.bounds.checks, inline=inline)
        self._claims = Claims(_flights)
        self._may_fetch = True
        self._refused = False

    def resolve_all(self) -> list[Resolved]:
        entries = self._entries
        groups: dict[tuple[str, str], _Group] = {}
        for number, entry in enumerate(entries):
            if isinstance(entry, Malformed):
                self._results[number] = _skipped(entry, entry.reason, "nowhere")
            else:
                groups.setdefault((entry.name, entry.version), _Group()).waiting.append((number, entry))
        for group in groups.values():
            self._resolve_group(group, near=True)
        self._raise_refused()
        self._resolve_far([group for group in groups.values() if group.waiting])
        self._raise_refused()
        return [self._results[number] for number in range(len(entries))]

    def _resolve_far(self, groups: Sequence[_Group]) -> None:
        """Resolve what is not in the cache, if the gate admits it."""
        if not groups:
            return
        if not self._reach.online:
            self._skip_waiting(groups, _OFFLINE)
            return
        try:
            led = [(group, self._lead(group)) for group in groups]
            joined = [group for group, leads in led if not leads]
            leading = [group for group, leads in led if leads and group.waiting]
            self._may_fetch = bool(leading)
            if joined or leading:
                with self._reach.gate.fetching() if leading else self._reach.gate.waiting():
                    self._fetch([*leading, *joined])  # others may wait for what this call leads, so that is first
        finally:
            self._claims.end()

    def _raise_refused(self) -> None:
        if self._refused:
            raise Busy(
                f"The download that this request waited for failed. Try again in {_RETRY_SECONDS} seconds.",
                retry_after=_RETRY_SECONDS,
            )

    def _lead(self, group: _Group) -> bool:
        """Join the download of the first entry and return False, or lead it.

        A download that ended since the cache was read has left its skill there, so a leader reads the cache again.
        """
        entry = group.waiting[0][1]
        key = self._key(entry)
        leading = self._claims.add(key, entry.url)
        if leading and self._cache.find(entry.name, entry.version, origin=key[-1]) is not None:
            self._claims.end(key)
            self._resolve_group(group, near=True)
        return leading

    def _fetch(self, groups: Sequence[_Group]) -> None:
        """Fetch in parallel. Threads that miss the deadline finish in the background and fill the cache."""
        pool = ThreadPoolExecutor(self._reach.bounds.at_once, thread_name_prefix="resolve")
        working = [pool.submit(self._resolve_group, group) for group in groups]
        wait(working, timeout=max(0.0, self._deadline - time.monotonic()))
        pool.shutdown(wait=False, cancel_futures=True)
        self._skip_waiting(groups, fetching.late(self._reach.bounds))

    def _skip_waiting(self, groups: Sequence[_Group], reason: str) -> None:
        for number, entry in (one for group in groups for one in tuple(group.waiting)):
            if number not in self._results:
                self._results[number] = _skipped(entry, reason, definitions.origin(entry))

    def _resolve_group(self, group: _Group, *, near: bool = False) -> None:
        """Resolve the entries of a group in order; with `near`, stop at the first that must be fetched."""
        while group.waiting:
            number, entry = group.waiting[0]
            result = self._resolve_entry(entry, group, near=near)
            if result is None:
                return
            self._results.setdefault(number, result)
            group.waiting.pop(0)

    def _resolve_entry(self, entry: Definition, group: _Group, *, near: bool) -> Resolved | None:
        try:
            found = self._inline(entry, group) if entry.content is not None else self._cached(entry, group, near=near)
        except _NotAdmitted:
            self._refused = True
            reason = _CRASHED
        except (_Skip, Failure) as error:
            reason = str(error)
        except SkillsiteError as error:
            reason = _reason(error)
        except OSError as error:
            reason = f"The cache cannot be read or written: {error.strerror or error}."
        except Exception as error:
            # The message may contain a URL, so only the traceback is logged.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("Resolving crashed with %s at\n%s", type(error).__name__, where)
            reason = _CRASHED
        else:
            if found is not None:
                group.current = found[0]
            return found and _resolved(entry, *found)
        group.failed[definitions.origin(entry), entry.url] = reason
        return _skipped(entry, reason, definitions.origin(entry))

    def _inline(self, entry: Definition, group: _Group) -> tuple[CachedSkill, Status]:
        """Store a text under its digest, so that it cannot change what other requests read."""
        bundle = download.text_bundle((entry.content or "").encode(), limits=self._reach.limits)
        if group.current and group.current.digest != bundle.digest:
            raise _Skip(_DIFFERENT_CONTENT)
        copy = self._cache.find_by_digest(entry.name, entry.version, bundle.digest, origin=INLINE)
        if copy is None or copy.origin != INLINE:
            with self._check(entry, bundle):
                self._pay(bundle)
                copy = self._cache.keep_by_digest(entry.name, entry.version, bundle, origin=INLINE)
        return copy, "loaded"

    def _cached(self, entry: Definition, group: _Group, *, near: bool) -> tuple[CachedSkill, Status] | None:
        origin = definitions.origin(entry)
        status: Status = "cached"
        copy = self._cache.find(entry.name, entry.version, origin=origin)
        if copy is None:
            if near:
                return None
            if (origin, entry.url) in group.failed:
                raise _Skip(group.failed[origin, entry.url])
            copy, status = self._fetched(entry, origin)
        if copy.origin not in ("", origin):
            raise _Skip(
                f"This name and version are already cached from {copy.origin}. A skill from another origin cannot "
                "replace it. Use another version."
            )
        if group.current and group.current.digest != copy.digest:
            raise _Skip(_DIFFERENT_CONTENT)
        return copy, status

    def _fetched(self, entry: Definition, origin: str) -> tuple[CachedSkill, Status]:
        """Download a skill, or wait for an equal download and use its result."""
        key = self._key(entry)
        while True:
            flight, leading = self._claims.take(key, entry.url)
            if leading:
                try:
                    return self._led(flight, entry, origin)
                finally:
                    _flights.end(key, flight)
            if not flight.done.wait(max(0.0, self._deadline - time.monotonic())):
                raise Failure(fetching.late(self._reach.bounds))
            copy = self._cache.find(entry.name, entry.version, origin=origin)
            if copy is not None:
                return copy, "cached"
            if flight.failure and flight.url == entry.url:
                raise Failure(flight.failure)

    def _led(self, flight: Flight, entry: Definition, origin: str) -> tuple[CachedSkill, Status]:
        """Download a skill for this call and for those that wait for it."""
        try:
            return self._download_and_keep(entry, origin)
        except Exceeded:
            raise  # a limit of this request or token, which does not concern the others
        except (Failure, SkillsiteError) as error:
            flight.failure = _reason(error) if isinstance(error, SkillsiteError) else str(error)
            raise

    def _download_and_keep(self, entry: Definition, origin: str) -> tuple[CachedSkill, Status]:
        copy = self._cache.find(entry.name, entry.version, origin=origin)  # another download may have just ended
        if copy is not None:
            return copy, "cached"
        if not self._may_fetch:
            raise _NotAdmitted
        if self._reach.quota:
            self._reach.quota.check()
        with self._budget.download() as metered:
            bundle = fetching.fetch(entry, self._reach, metered, deadline=self._deadline)
            self._budget.unpacked(sum(file.size for file in bundle.manifest))
            with self._check(entry, bundle):
                self._pay(bundle)
                copy = self._cache.keep(entry.name, entry.version, bundle, origin=origin)
            return copy, "loaded" if copy.digest == bundle.digest else "cached"

    @contextmanager
    def _check(self, entry: Definition, bundle: Bundle) -> Iterator[None]:
        """Check a skill that the block stores."""
        limits, inline = self._reach.limits, entry.content is not None
        with self._check_time.measured(bundle, inline=inline, limits=limits) as scan:
            checks.check(bundle, name=entry.name, scan=scan, limits=limits)
            yield

    def _pay(self, bundle: Bundle) -> None:
        if self._reach.quota:
            self._reach.quota.take(charge(bundle))

    def _key(self, entry: Definition) -> tuple[Path, str, str, str]:
        return self._cache.root, entry.name, entry.version, definitions.origin(entry)


def _resolved(entry: Definition, copy: CachedSkill, status: Status) -> Resolved:
    return Resolved(
        entry.name, entry.version, status, directory=copy.directory, digest=copy.digest, description=copy.description,
        tokens=copy.tokens, files=copy.files, origin=copy.origin,
    )  # fmt: skip


def _skipped(entry: Entry, reason: str, origin: str) -> Resolved:
    log.error("Skipped %s %s from %s: %s", paths.display(entry.name), paths.display(entry.version), origin, reason)
    return Resolved(entry.name, entry.version, "skipped", reason)


def _reason(error: SkillsiteError) -> str:
    missing = any(finding.rule in MISSING_RULES for finding in error.findings)
    return f"{EXPECTED_AT_ROOT} {error.message}" if missing else error.message
