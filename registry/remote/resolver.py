"""Definitions to skills on this disk: the text itself, else the copy that is kept, else S3, else the web.

Skip and continue: what fails is logged and answered with its reason, and costs no other skill. That none could be had
is an answer like any other.
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
from registry.remote.cache import Cache, Copy
from registry.remote.outbound_http import NO_HOSTS, Failure

log = logging.getLogger(__name__)

Status = Literal["loaded", "cached", "skipped"]
_TWICE = "Another entry of this request has the same name and version and other content."
_CRASHED = "Something went wrong here. It was written to the log."


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one call may take: seconds for a definition and for all, definitions, downloads at a time, redirects."""

    each: float = 30.0
    all: float = 60.0
    most: int = 100
    at_once: int = 8
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Resolved:
    """One entry of the answer. `name` is as it was given; all after `reason` is empty where it was skipped."""

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
    """Where skills may be fetched from, and how long: hosts that may be in a private network, the S3 that is asked."""

    allowed: frozenset[str]
    storage: s3.Storage
    limits: Limits
    bounds: Bounds


@dataclass
class _Group:
    """Entries of one name and version, settled one after the other: within a request they stand for one content."""

    waiting: list[tuple[int, Definition]] = field(default_factory=list)
    standing: Copy | None = None
    failed: dict[tuple[str, str], str] = field(default_factory=dict)


class _Skip(Exception):
    """Why an entry is left out, in a sentence."""


def resolve(
    given: object,
    *,
    root: Path | str | None = None,
    allowed: frozenset[str] = NO_HOSTS,
    storage: s3.Storage | None = None,
    limits: Limits = DEFAULT,
    bounds: Bounds | None = None,
) -> list[Resolved]:
    """One result for each active entry, in order. `given` is whatever `definitions.parse` reads.

    Only a request as a whole is refused: one that holds no list, or too many definitions.
    """
    entries, bounds = definitions.parse(given), bounds or Bounds()
    if len(entries) > bounds.most:
        raise InvalidRequest(
            f"There are {len(entries):,} definitions. {bounds.most:,} are allowed in one request.",
            actual=len(entries),
            allowed=bounds.most,
        )
    cache = Cache(storage_root(root), limits=limits)
    return _Run(cache, Reach(allowed, storage or s3.Storage(), limits, bounds)).settle(entries)


def storage_root(root: Path | str | None = None) -> Path:
    """From the argument, then PERSISTENT_VOLUME_STORAGE, then /data."""
    return Path(root or os.environ.get("PERSISTENT_VOLUME_STORAGE") or "/data")


class _Run:
    """One call: what is at hand in this thread, what has to be fetched in a few others."""

    def __init__(self, cache: Cache, reach: Reach) -> None:
        self._cache, self._reach = cache, reach
        self._deadline = time.monotonic() + reach.bounds.all
        self._results: dict[int, Resolved] = {}

    def settle(self, entries: Sequence[Entry]) -> list[Resolved]:
        groups: dict[tuple[str, str], _Group] = {}
        for number, entry in enumerate(entries):
            if isinstance(entry, Malformed):
                self._results[number] = _skipped(entry, entry.reason, "nowhere")
            else:
                groups.setdefault((entry.name, entry.version), _Group()).waiting.append((number, entry))
        for group in groups.values():
            self._settle(group, near=True)
        self._fetch([group for group in groups.values() if group.waiting])
        return [self._results[number] for number in range(len(entries))]

    def _fetch(self, groups: Sequence[_Group]) -> None:
        """Whoever is not done by the deadline is left to finish alone; a copy that comes late serves the next call."""
        if not groups:
            return
        pool = ThreadPoolExecutor(self._reach.bounds.at_once, thread_name_prefix="resolve")
        working = [pool.submit(self._settle, group) for group in groups]
        wait(working, timeout=max(0.0, self._deadline - time.monotonic()))
        pool.shutdown(wait=False, cancel_futures=True)
        for number, entry in (one for group in groups for one in tuple(group.waiting)):
            if number not in self._results:
                self._results[number] = _skipped(entry, _late(self._reach.bounds.all), definitions.origin(entry))

    def _settle(self, group: _Group, *, near: bool = False) -> None:
        """Takes entries off the group one by one; with `near`, up to the first that has to be fetched."""
        while group.waiting:
            number, entry = group.waiting[0]
            result = self._one(entry, group, near=near)
            if result is None:
                return
            self._results.setdefault(number, result)
            group.waiting.pop(0)

    def _one(self, entry: Definition, group: _Group, *, near: bool) -> Resolved | None:
        try:
            found = self._inline(entry, group) if entry.content is not None else self._kept(entry, group, near=near)
        except (_Skip, Failure) as error:
            reason = str(error)
        except SkillsiteError as error:
            reason = error.message
        except OSError as error:
            reason = f"The copy on this disk cannot be read or written: {error.strerror or error}."
        except Exception as error:
            # A message may hold an address, so the log gets where it happened and not what it said.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("Resolving crashed with %s at\n%s", type(error).__name__, where)
            reason = _CRASHED
        else:
            if found is not None:
                group.standing = found[0]
            return found and _resolved(entry, *found)
        group.failed[definitions.origin(entry), entry.url] = reason
        return _skipped(entry, reason, definitions.origin(entry))

    def _inline(self, entry: Definition, group: _Group) -> tuple[Copy, Status]:
        bundle = download.text_bundle((entry.content or "").encode(), limits=self._reach.limits)
        if group.standing and group.standing.digest != bundle.digest:
            raise _Skip(_TWICE)
        if not self._cache.vouches_for(entry.name, entry.version, bundle.digest):
            self._check(entry, bundle)
        return self._cache.rewrite(entry.name, entry.version, bundle), "loaded"

    def _kept(self, entry: Definition, group: _Group, *, near: bool) -> tuple[Copy, Status] | None:
        origin = definitions.origin(entry)
        status: Status = "cached"
        copy = self._cache.find(entry.name, entry.version, origin=origin)
        if copy is None:
            if near:
                return None
            if (origin, entry.url) in group.failed:
                raise _Skip(group.failed[origin, entry.url])
            bundle = self._fetched(entry)
            self._check(entry, bundle)
            copy = self._cache.keep(entry.name, entry.version, bundle, origin=origin)
            status = "loaded" if copy.digest == bundle.digest else "cached"
        if copy.origin not in ("", origin):
            raise _Skip(
                f"This name and version are kept here from {copy.origin}, and what comes from elsewhere does not "
                "take their place. Use another version."
            )
        return copy, status

    def _fetched(self, entry: Definition) -> Bundle:
        reach = self._reach
        left = self._deadline - time.monotonic()
        if left < 0.01:
            raise Failure(_late(reach.bounds.all))
        seconds = round(min(reach.bounds.each, left), 2)
        if entry.s3_path:
            return s3.fetch(entry.s3_path, storage=reach.storage, seconds=seconds, limits=reach.limits)
        return download.fetch(
            entry.url, seconds=seconds, allowed=reach.allowed, limits=reach.limits, redirects=reach.bounds.redirects
        )

    def _check(self, entry: Definition, bundle: Bundle) -> None:
        """As an import is checked: what is odd is kept, what cannot be read is refused."""
        limits = self._reach.limits
        said = skill_md.read(bundle[SKILL_MD], fallback_name=entry.name, limits=limits)
        for finding in errors(rules.lint(said, bundle, authoring=False, limits=limits)):
            place = f"{finding.file}, line {finding.line}" if finding.line else finding.file
            raise InvalidSkill(f"{place}: {finding.message} {finding.fix}", findings=[finding])


def _resolved(entry: Definition, copy: Copy, status: Status) -> Resolved:
    return Resolved(
        entry.name, entry.version, status, directory=copy.directory, digest=copy.digest, description=copy.description,
        tokens=copy.tokens, files=copy.files, origin=copy.origin,
    )  # fmt: skip


def _skipped(entry: Entry, reason: str, origin: str) -> Resolved:
    log.error("Skipped %s %s from %s: %s", paths.display(entry.name), paths.display(entry.version), origin, reason)
    return Resolved(entry.name, entry.version, "skipped", reason)


def _late(seconds: float) -> str:
    return f"There was no complete answer within the {seconds:g} seconds that a request may take."
