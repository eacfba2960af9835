"""Cache of whole skills, shared by processes on many machines. The resolver and the client use it.

Fetched skills are in `{root}/skills/{name}/{version}/`. A skill from one origin is never used for another one and never
replaced. Skills that are known by their digest, such as inline text, are in `{root}/digests/{digest}/{name}/`, so that
no text can change what others read.

A rename is the only visible step, because it is the only atomic one on network volumes. A skill is written to a
temporary directory and renamed. One of several writers wins; the others check and use its result. See
`docs/decisions/0007-remote-cache.md` for the reasons.
"""

import errno
import logging
import os
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from registry.core import paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry
from registry.core.catalog import token_estimate
from registry.core.errors import Conflict, InvalidRequest, NotFound, SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.lib import files
from registry.remote import directories, stat_cache
from registry.remote.cache_records import Record, Records

log = logging.getLogger(__name__)

SKILLS, DIGESTS = "skills", "digests"
AREAS = (SKILLS, DIGESTS)
OLD = ".old-"
_SMALL = 64 * 1024
_TRIES, _PAUSE = 5, 0.01  # replacing a directory takes only a few of these
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # the target existed, though it may be gone again
_DIGEST = re.compile("sha256:([0-9a-f]{64})")
# Each copy takes a directory, a record and at least one block per file, however small it is.
_LEAST_BYTES, _BYTES_PER_FILE = 64 * 1024, 4 * 1024


@dataclass(frozen=True, slots=True)
class CachedSkill:
    """A skill in the cache. `origin` is empty if it has no record because somebody placed it by hand."""

    name: str
    version: str
    directory: Path
    digest: str
    files: tuple[FileEntry, ...]
    origin: str
    description: str
    tokens: int

    def entry(self, path: str) -> FileEntry:
        paths.check(path)
        for entry in self.files:
            if entry.path == path:
                return entry
        raise NotFound(f"{self.name} has no file {paths.display(path)}.", files=[entry.path for entry in self.files])


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory of the cache. `digest` is set where only content with this digest is valid."""

    directory: Path
    records: Records
    text: str
    digest: str = ""


@lru_cache(maxsize=4_096)
def _place(root: Path, name: str, version: str) -> _Place:
    parent = root / SKILLS / paths.check_component(name, what="name")
    directory = parent / paths.check_component(version, what="version")
    return _Place(directory, Records(parent, version), str(directory))


@lru_cache(maxsize=4_096)
def _digest_place(root: Path, name: str, digest: str) -> _Place:
    parent = root / DIGESTS / check_digest(digest)
    directory = parent / paths.check_component(name, what="name")
    return _Place(directory, Records(parent, name), str(directory), digest)


def check_digest(digest: str) -> str:
    """Return the hexadecimal part of a digest. Raise InvalidRequest if it is not a SHA-256 digest."""
    match = _DIGEST.fullmatch(digest)
    if match is None:
        raise InvalidRequest("The digest is missing or invalid. Use the digest from the result of resolve: sha256:…")
    return match[1]


def charge(bundle: Bundle) -> int:
    """Return the bytes that a copy counts against a quota. Small files count more than their size."""
    return max(_LEAST_BYTES, sum(entry.size + _BYTES_PER_FILE for entry in bundle.manifest))


# Checked skills, valid until their stat signatures change.
_known: stat_cache.StatCache[CachedSkill] = stat_cache.StatCache()


@dataclass(frozen=True, slots=True)
class _Seen:
    tree: directories.Tree
    record: Record | None
    by_hand: bool

    @property
    def valid(self) -> bool:
        return self.record is not None or self.by_hand


class Cache:
    """A cache below one directory. `by` is who pays for the copies that this object stores.

    With `lenient`, a SKILL.md that cannot be parsed is stored without a description. Without `durable`, a copy may be
    lost when the machine stops; it is then not used, because its digest is checked.
    """

    def __init__(
        self, root: Path, *, limits: Limits = DEFAULT, by: str = "", durable: bool = True, lenient: bool = False
    ) -> None:
        self.root, self._limits, self._by = root, limits, by
        self._durable, self._lenient = durable, lenient

    def find(self, name: str, version: str, *, origin: str = "") -> CachedSkill | None:
        """Return the cached skill, or None if there is none or its content was changed.

        The result may have another origin. The caller must compare it.
        """
        return self._find(_place(self.root, name, version), name, version, origin)

    def find_by_digest(self, name: str, version: str, digest: str, *, origin: str = "") -> CachedSkill | None:
        """Return the skill that was stored under this digest, or None."""
        return self._find(_digest_place(self.root, name, digest), name, version, origin)

    def _find(self, place: _Place, name: str, version: str, origin: str) -> CachedSkill | None:
        asked = f"{origin} lenient" if self._lenient else origin
        known = _known.get(place.text, asked)
        if known is not None:
            return known
        signatures = stat_cache.signatures_of(place.text, place.records.text)
        for attempt in range(_TRIES):
            seen = self._look(place, origin)
            if seen is None:
                return None
            if seen.valid:
                copy = self._cached_skill(place, name, version, seen)
                if not attempt:
                    _known.put(place.text, asked, signatures, copy)
                return copy
            time.sleep(_PAUSE if attempt < _TRIES - 1 else 0)
        log.warning("The cached skill %s %s was changed on disk and is not used.", paths.display(name), version)
        return None

    def read(self, name: str, version: str, path: str, *, digest: str) -> tuple[CachedSkill, bytes]:
        """Return one file of the skill with this digest. Raise Conflict if the cached skill has another one."""
        stored = _digest_place(self.root, name, digest)
        place = stored if stored.directory.is_dir() else _place(self.root, name, version)
        for attempt in range(_TRIES):
            seen = self._look(place, keep=path)
            if seen and seen.valid and digest == seen.tree.digest:
                copy = self._cached_skill(place, name, version, seen)
                copy.entry(path)
                return copy, seen.tree.kept[path]
            time.sleep(_PAUSE if attempt < _TRIES - 1 else 0)
        if seen is None:
            raise NotFound(f"{paths.display(name)} {paths.display(version)} is not in the cache. Resolve it first.")
        raise Conflict("The skill changed since it was resolved. Resolve it again.", digest=seen.tree.digest)

    def load(self, name: str, version: str, *, digest: str, origin: str) -> tuple[CachedSkill, Bundle] | None:
        """Return the whole skill with this digest from this origin, or None."""
        for place in (_place(self.root, name, version), _digest_place(self.root, name, digest)):
            seen = self._look(place, origin, keep=None)
            if seen is None or not seen.valid or seen.tree.digest != digest:
                continue
            if place.digest or seen.record is None or seen.record.origin == origin:
                return self._cached_skill(place, name, version, seen), Bundle(seen.tree.kept)
        return None

    def keep(self, name: str, version: str, bundle: Bundle, *, origin: str) -> CachedSkill:
        """Store a skill, or return the one that was stored first. That one may have another origin or content."""
        return self._keep(_place(self.root, name, version), name, version, bundle, origin)

    def keep_by_digest(self, name: str, version: str, bundle: Bundle, *, origin: str) -> CachedSkill:
        """Store a skill under its digest. It replaces nothing, because equal digests mean equal content."""
        return self._keep(_digest_place(self.root, name, bundle.digest), name, version, bundle, origin)

    def _keep(self, place: _Place, name: str, version: str, bundle: Bundle, origin: str) -> CachedSkill:
        record = self._record(bundle[SKILL_MD], name, origin, bundle.digest, charge(bundle))
        fresh = files.sibling(place.directory, files.TEMPORARY_PREFIX)
        files.make_directories(place.directory.parent)
        try:
            files.write_tree(fresh, bundle, private=True, durable=self._durable)
            for _ in range(_TRIES):
                if self._put(fresh, place, bundle, record):
                    facts = (record.origin, record.description, record.tokens)
                    return CachedSkill(name, version, place.directory, bundle.digest, bundle.manifest, *facts)
                existing = self._find(place, name, version, origin)
                if existing is not None:
                    return _warn_if_different(existing, bundle)
                self._set_aside(place)
        finally:
            files.remove(fresh)
        raise OSError("other processes keep changing it")

    def _put(self, fresh: Path, place: _Place, bundle: Bundle, record: Record) -> bool:
        """Return whether the rename succeeded. After an error the target is checked, since network errors can lie."""
        record_file = place.records.write(record, durable=self._durable)
        try:
            fresh.rename(place.directory)
        except OSError as error:
            tree = directories.read(place.directory, limits=self._limits)
            if tree is not None and tree.digest == bundle.digest and not fresh.exists():
                return True  # it succeeded, but the response of the network volume was lost
            record_file.unlink(missing_ok=True)
            if error.errno not in _TAKEN and not os.path.lexists(place.directory):
                raise  # not a race: the disk is full, read-only or another one
            return False
        if self._durable:
            files.sync_directory(place.directory.parent)
        return True

    def _set_aside(self, place: _Place) -> None:
        """Remove an invalid directory. If another process repaired it meanwhile, restore its content."""
        aside = files.sibling(place.directory, OLD)
        try:
            place.directory.rename(aside)
        except FileNotFoundError:
            return
        try:
            moved = self._look(_Place(aside, place.records, str(aside), place.digest))
            if moved and moved.valid:
                aside.rename(place.directory)
        except OSError:
            pass  # another process stored a valid skill meanwhile
        finally:
            files.remove(aside)

    def _look(self, place: _Place, origin: str = "", *, keep: str | None = SKILL_MD) -> _Seen | None:
        tree = directories.read(place.directory, keep=keep, limits=self._limits)
        if tree is None:
            return None
        record, any_record = place.records.find(tree.digest, origin)
        if place.digest:
            return _Seen(tree, record if tree.digest == place.digest else None, by_hand=tree.digest == place.digest)
        return _Seen(tree, record, by_hand=not any_record)

    def _cached_skill(self, place: _Place, name: str, version: str, seen: _Seen) -> CachedSkill:
        tree = seen.tree
        record = seen.record or self._record(tree.kept[SKILL_MD], name, "", tree.digest, 0)
        facts = (record.origin, record.description, record.tokens)
        return CachedSkill(name, version, place.directory, tree.digest, tree.manifest, *facts)

    def _record(self, text: bytes, name: str, origin: str, digest: str, size: int) -> Record:
        """Return the record of a SKILL.md. One without a name gets the name of the definition."""
        facts = _small_facts if len(text) <= _SMALL else _facts
        try:
            description, tokens = facts(text, name, self._limits)
        except SkillsiteError:
            if not self._lenient:
                raise
            description, tokens = "", 0
        return Record(origin, digest, description, tokens, size, self._by)


def _facts(text: bytes, name: str, limits: Limits) -> tuple[str, int]:
    skill = skill_md.read(text, fallback_name=name, limits=limits)
    return skill.description, token_estimate.estimate(skill.instructions)


# Inline skills arrive with every request, so they are parsed once.
_small_facts = lru_cache(maxsize=500)(_facts)


def _warn_if_different(existing: CachedSkill, mine: Bundle) -> CachedSkill:
    if existing.digest != mine.digest:
        log.warning(
            "%s %s arrived twice with different content: %s is kept, %s is not.",
            paths.display(existing.name), paths.display(existing.version), existing.digest, mine.digest,
        )  # fmt: skip
    return existing
