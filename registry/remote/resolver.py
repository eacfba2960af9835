"""Resolve definitions to cached skills: inline text, else the cache, else S3, else the web.

A definition that fails is skipped, logged and returned with its reason. It does not stop the others.
"""

import logging
import os
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from registry.core import paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry
from registry.core.errors import InvalidRequest, InvalidSkill, SkillsiteError
from registry.core.findings import errors
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import rules
from registry.core.resolve import definitions
from registry.core.resolve.definitions import Definition, Entry, Malformed
from registry.remote import download, s3
from registry.remote.cache import Cache, CachedSkill
from registry.remote.outbound_http import NO_HOSTS, Failure

log = logging.getLogger(__name__)

Status = Literal["loaded", "cached", "skipped"]
_DIFFERENT_CONTENT = "Another entry in this request has the same name and version but different content."
_CRASHED = "Unexpected error. The reason is in the log of the site."


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one call: seconds per definition and in total, definitions, parallel downloads, redirects."""

    each: float = 30.0
    all: float = 60.0
    most: int = 100
    at_once: int = 8
    redirects: int = 5


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


@dataclass(frozen=True, slots=True)
class Reach:
    """Settings of one call. `allowed` hosts may be in a private network."""

    allowed: frozenset[str]
    storage: s3.Storage
    limits: Limits
    bounds: Bounds


@dataclass
class _Group:
    """Entries with the same name and version, resolved in order. They must have the same content."""

    waiting: list[tuple[int, Definition]] = field(default_factory=list)
    current: CachedSkill | None = None
    failed: dict[tuple[str, str], str] = field(default_factory=dict)


class _Skip(Exception):
    """An entry is skipped. The message is a sentence."""


def resolve(
    payload: object,
    *,
    root: Path | str | None = None,
    allowed: frozenset[str] = NO_HOSTS,
    storage: s3.Storage | None = None,
    limits: Limits = DEFAULT,
    bounds: Bounds | None = None,
) -> list[Resolved]:
    """Return one result for each active entry, in order. `payload` is parsed by `definitions.parse`.

    Raise InvalidRequest only for the whole request: if it has no list or too many definitions.
    """
    entries, bounds = definitions.parse(payload), bounds or Bounds()
    if len(entries) > bounds.most:
        raise InvalidRequest(
            f"The request has {len(entries):,} definitions. {bounds.most:,} are allowed.",
            actual=len(entries),
            allowed=bounds.most,
        )
    cache = Cache(storage_root(root), limits=limits)
    return _Resolution(cache, Reach(allowed, storage or s3.Storage(), limits, bounds)).resolve_all(entries)


def storage_root(root: Path | str | None = None) -> Path:
    """Return the argument, else PERSISTENT_VOLUME_STORAGE, else /data."""
    return Path(root or os.environ.get("PERSISTENT_VOLUME_STORAGE") or "/data")


class _Resolution:
    """One call. Cached skills are resolved in this thread, the others are fetched in a thread pool."""

    def __init__(self, cache: Cache, reach: Reach) -> None:
        self._cache, self._reach = cache, reach
        self._deadline = time.monotonic() + reach.bounds.all
        self._results: dict[int, Resolved] = {}

    def resolve_all(self, entries: Sequence[Entry]) -> list[Resolved]:
        groups: dict[tuple[str, str], _Group] = {}
        for number, entry in enumerate(entries):
            if isinstance(entry, Malformed):
                self._results[number] = _skipped(entry, entry.reason, "nowhere")
            else:
                groups.setdefault((entry.name, entry.version), _Group()).waiting.append((number, entry))
        for group in groups.values():
            self._resolve_group(group, near=True)
        self._fetch([group for group in groups.values() if group.waiting])
        return [self._results[number] for number in range(len(entries))]

    def _fetch(self, groups: Sequence[_Group]) -> None:
        """Fetch in parallel. Threads that miss the deadline finish in the background and fill the cache."""
        if not groups:
            return
        pool = ThreadPoolExecutor(self._reach.bounds.at_once, thread_name_prefix="resolve")
        working = [pool.submit(self._resolve_group, group) for group in groups]
        wait(working, timeout=max(0.0, self._deadline - time.monotonic()))
        pool.shutdown(wait=False, cancel_futures=True)
        for number, entry in (one for group in groups for one in tuple(group.waiting)):
            if number not in self._results:
                self._results[number] = _skipped(entry, _late(self._reach.bounds.all), definitions.origin(entry))

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
        except (_Skip, Failure) as error:
            reason = str(error)
        except SkillsiteError as error:
            reason = error.message
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
        bundle = download.text_bundle((entry.content or "").encode(), limits=self._reach.limits)
        if group.current and group.current.digest != bundle.digest:
            raise _Skip(_DIFFERENT_CONTENT)
        if not self._cache.vouches_for(entry.name, entry.version, bundle.digest):
            self._check(entry, bundle)
        return self._cache.rewrite(entry.name, entry.version, bundle), "loaded"

    def _cached(self, entry: Definition, group: _Group, *, near: bool) -> tuple[CachedSkill, Status] | None:
        origin = definitions.origin(entry)
        status: Status = "cached"
        copy = self._cache.find(entry.name, entry.version, origin=origin)
        if copy is None:
            if near:
                return None
            if (origin, entry.url) in group.failed:
                raise _Skip(group.failed[origin, entry.url])
            bundle = self._download(entry)
            self._check(entry, bundle)
            copy = self._cache.keep(entry.name, entry.version, bundle, origin=origin)
            status = "loaded" if copy.digest == bundle.digest else "cached"
        if copy.origin not in ("", origin):
            raise _Skip(
                f"This name and version are already cached from {copy.origin}. A skill from another origin cannot "
                "replace it. Use another version."
            )
        return copy, status

    def _download(self, entry: Definition) -> Bundle:
        reach = self._reach
        seconds_left = self._deadline - time.monotonic()
        if seconds_left < 0.01:
            raise Failure(_late(reach.bounds.all))
        seconds = round(min(reach.bounds.each, seconds_left), 2)
        if entry.s3_path:
            return s3.fetch(entry.s3_path, storage=reach.storage, seconds=seconds, limits=reach.limits)
        return download.fetch(
            entry.url, seconds=seconds, allowed=reach.allowed, limits=reach.limits, redirects=reach.bounds.redirects
        )

    def _check(self, entry: Definition, bundle: Bundle) -> None:
        """Raise InvalidSkill for errors. Warnings are accepted, as in an import."""
        limits = self._reach.limits
        parsed = skill_md.read(bundle[SKILL_MD], fallback_name=entry.name, limits=limits)
        for finding in errors(rules.lint(parsed, bundle, authoring=False, limits=limits)):
            place = f"{finding.file}, line {finding.line}" if finding.line else finding.file
            raise InvalidSkill(f"{place}: {finding.message} {finding.fix}", findings=[finding])


def _resolved(entry: Definition, copy: CachedSkill, status: Status) -> Resolved:
    return Resolved(
        entry.name, entry.version, status, directory=copy.directory, digest=copy.digest, description=copy.description,
        tokens=copy.tokens, files=copy.files, origin=copy.origin,
    )  # fmt: skip


def _skipped(entry: Entry, reason: str, origin: str) -> Resolved:
    log.error("Skipped %s %s from %s: %s", paths.display(entry.name), paths.display(entry.version), origin, reason)
    return Resolved(entry.name, entry.version, "skipped", reason)


def _late(seconds: float) -> str:
    return f"No complete response within {seconds:g} seconds, the limit for a request."
