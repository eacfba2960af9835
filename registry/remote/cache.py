"""Cache of resolved skills as `{root}/skills/{name}/{version}/`, shared by processes on many machines.

A rename is the only visible step, because it is the only atomic one on network volumes. A skill is written to a
temporary directory and renamed. One of several writers wins; the others check and use its result. See
`docs/decisions/0007-remote-cache.md` for the reasons.
"""

import errno
import logging
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from registry.core import paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry
from registry.core.catalog import token_estimate
from registry.core.errors import Conflict, NotFound
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.core.resolve.definitions import INLINE
from registry.lib import files
from registry.remote import directories, stat_cache
from registry.remote.cache_records import Record, Records

log = logging.getLogger(__name__)

SKILLS = "skills"
OLD = ".old-"
_SMALL = 64 * 1024
_TRIES, _PAUSE = 5, 0.01  # replacing a directory takes only a few of these
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # the target existed, though it may be gone again


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
    directory: Path
    records: Records
    text: str = ""


@lru_cache(maxsize=4_096)
def _place(root: Path, name: str, version: str) -> _Place:
    parent = root / paths.check_component(name, what="name")
    directory = parent / paths.check_component(version, what="version")
    return _Place(directory, Records(parent, version), str(directory))


# Checked skills, valid until their stat signatures change.
_known: stat_cache.StatCache[CachedSkill] = stat_cache.StatCache()


@dataclass(frozen=True, slots=True)
class _Seen:
    tree: directories.Tree
    record: Record | None
    by_hand: bool


class Cache:
    def __init__(self, root: Path, *, limits: Limits = DEFAULT) -> None:
        self._root, self._limits = root / SKILLS, limits

    def find(self, name: str, version: str, *, origin: str = "") -> CachedSkill | None:
        """Return the cached skill, or None if there is none or its content was changed."""
        place = self._place(name, version)
        known = _known.get(place.text, origin)
        if known is not None:
            return known
        signatures = stat_cache.signatures_of(place.text, place.records.text)
        for attempt in range(_TRIES):
            seen = self._look(place, origin)
            if seen is None:
                return None
            if seen.record or seen.by_hand:
                copy = self._cached_skill(name, version, seen)
                if not attempt:
                    _known.put(place.text, origin, signatures, copy)
                return copy
            time.sleep(_PAUSE if attempt < _TRIES - 1 else 0)
        log.warning("The cached skill %s %s was changed on disk and is not used.", paths.display(name), version)
        return None

    def read(self, name: str, version: str, path: str, *, digest: str = "") -> tuple[CachedSkill, bytes]:
        """Return one file of a cached skill. Raise Conflict if the skill does not have this digest."""
        for attempt in range(_TRIES):
            seen = self._look(self._place(name, version), keep=path)
            whole = seen is not None and (seen.record or seen.by_hand)
            if seen and whole and digest in ("", seen.tree.digest):
                copy = self._cached_skill(name, version, seen)
                copy.entry(path)
                return copy, seen.tree.kept[path]
            time.sleep(_PAUSE if attempt < _TRIES - 1 else 0)
        if seen is None:
            raise NotFound(f"{paths.display(name)} {paths.display(version)} is not in the cache. Resolve it first.")
        raise Conflict("The skill changed since it was resolved. Resolve it again.", digest=seen.tree.digest)

    def vouches_for(self, name: str, version: str, digest: str) -> bool:
        """Return whether content with this digest was already checked and cached under this version."""
        return self._place(name, version).records.find(digest)[0] is not None

    def keep(self, name: str, version: str, bundle: Bundle, *, origin: str) -> CachedSkill:
        """Store a skill, or return the one that another process stored first."""
        place, record = self._place(name, version), _record_of(bundle, name, origin, self._limits)
        fresh = files.sibling(place.directory, files.TEMPORARY_PREFIX)
        files.make_directories(place.directory.parent)
        try:
            files.write_tree(fresh, bundle, private=True, durable=True)
            for _ in range(_TRIES):
                if self._put(fresh, place, bundle, record):
                    return self._cached(name, version, bundle, record)
                existing = self.find(name, version, origin=origin)
                if existing is not None:
                    return _warn_if_different(existing, bundle)
                self._set_aside(place)
        finally:
            files.remove(fresh)
        raise OSError("other processes keep changing it")

    def rewrite(self, name: str, version: str, bundle: Bundle) -> CachedSkill:
        """Store an inline skill and replace any other content. The last writer wins."""
        place, record = self._place(name, version), _record_of(bundle, name, INLINE, self._limits)
        files.make_directories(place.directory.parent)
        seen = self._look(place, INLINE)
        if seen is None or seen.tree.digest != bundle.digest:
            self._replace(place, bundle, record, seen)
        elif seen.record is None or seen.record.origin != INLINE:
            place.records.write(record)
        place.records.drop_stale(bundle.digest)
        return self._cached(name, version, bundle, record)

    def _replace(self, place: _Place, bundle: Bundle, record: Record, seen: _Seen | None) -> None:
        if seen and [entry.path for entry in seen.tree.manifest] == [SKILL_MD]:
            place.records.write(record)
            try:
                # Replacing a single file is atomic: readers always find one.
                file = place.directory / SKILL_MD
                content = bundle[SKILL_MD]
                return files.write_atomically(file, content, mode=files.PRIVATE_FILE, staging=place.directory.parent)
            except FileNotFoundError:
                pass  # another process is replacing the directory
        fresh = files.sibling(place.directory, files.TEMPORARY_PREFIX)
        try:
            files.write_tree(fresh, bundle, private=True, durable=True)
            for _ in range(_TRIES * 10):
                if self._put(fresh, place, bundle, record):
                    return None
                self._set_aside(place, even_whole=True)
        finally:
            files.remove(fresh)
        raise OSError("other processes keep changing it")

    def _put(self, fresh: Path, place: _Place, bundle: Bundle, record: Record) -> bool:
        """Return whether the rename succeeded. After an error the target is checked, since network errors can lie."""
        record_file = place.records.write(record)
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
        files.sync_directory(place.directory.parent)
        return True

    def _set_aside(self, place: _Place, *, even_whole: bool = False) -> None:
        """Remove an invalid directory. If another process repaired it meanwhile, restore its content."""
        aside = files.sibling(place.directory, OLD)
        try:
            place.directory.rename(aside)
        except FileNotFoundError:
            return
        try:
            moved = self._look(_Place(aside, place.records))
            if moved and (moved.record or moved.by_hand) and not even_whole:
                aside.rename(place.directory)
        except OSError:
            pass  # another process stored a valid skill meanwhile
        finally:
            files.remove(aside)

    def _look(self, place: _Place, origin: str = "", *, keep: str = SKILL_MD) -> _Seen | None:
        tree = directories.read(place.directory, keep=keep, limits=self._limits)
        if tree is None:
            return None
        record, any_record = place.records.find(tree.digest, origin)
        return _Seen(tree, record, by_hand=not any_record)

    def _cached_skill(self, name: str, version: str, seen: _Seen) -> CachedSkill:
        tree = seen.tree
        record = seen.record or _read(tree.kept[SKILL_MD], name, "", tree.digest, self._limits)
        where = self._root / name / version
        return CachedSkill(
            name, version, where, tree.digest, tree.manifest, record.origin, record.description, record.tokens
        )

    def _cached(self, name: str, version: str, bundle: Bundle, record: Record) -> CachedSkill:
        where = self._root / name / version
        return CachedSkill(
            name, version, where, bundle.digest, bundle.manifest, record.origin, record.description, record.tokens
        )

    def _place(self, name: str, version: str) -> _Place:
        return _place(self._root, name, version)


def _record_of(bundle: Bundle, name: str, origin: str, limits: Limits) -> Record:
    return _read(bundle[SKILL_MD], name, origin, bundle.digest, limits)


def _read(skill_md: bytes, name: str, origin: str, digest: str, limits: Limits) -> Record:
    """Return the record of a SKILL.md. One without a name gets the name of the definition."""
    facts = _small_facts if len(skill_md) <= _SMALL else _facts
    return Record(origin, digest, *facts(skill_md, name, limits))


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
