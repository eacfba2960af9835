"""Skills from elsewhere, kept for good as `{root}/skills/{name}/{version}/`, for processes on many machines at once.

A rename is the only step that others see, since it is the only one that network volumes promise. A new copy is written
beside its place and renamed into it: one of several writers wins, the others find the place taken, check what stands
there and use it. `docs/decisions/0007-remote-cache.md` says why it is done so.
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
_TRIES, _PAUSE = 5, 0.01  # whoever replaces a directory is done within a few of these
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # there was something, though it may be gone again


@dataclass(frozen=True, slots=True)
class Copy:
    """`origin` is empty for a copy that no record vouches for: somebody placed it by hand."""

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


# A copy is what it was seen to be until it looks different from outside.
_known: stat_cache.Glances[Copy] = stat_cache.Glances()


@dataclass(frozen=True, slots=True)
class _Seen:
    tree: directories.Tree
    record: Record | None
    by_hand: bool


class Cache:
    def __init__(self, root: Path, *, limits: Limits = DEFAULT) -> None:
        self._root, self._limits = root / SKILLS, limits

    def find(self, name: str, version: str, *, origin: str = "") -> Copy | None:
        """The copy that stands there, whole; None where there is none, or one whose bytes are not what was kept."""
        place = self._place(name, version)
        known = _known.get(place.text, origin)
        if known is not None:
            return known
        signed = stat_cache.signed(place.text, place.records.text)
        for turn in range(_TRIES):
            seen = self._look(place, origin)
            if seen is None:
                return None
            if seen.record or seen.by_hand:
                copy = self._copy(name, version, seen)
                if not turn:
                    _known.put(place.text, origin, signed, copy)
                return copy
            time.sleep(_PAUSE if turn < _TRIES - 1 else 0)
        log.warning("The copy of %s %s was changed on the disk and is not used.", paths.display(name), version)
        return None

    def read(self, name: str, version: str, path: str, *, digest: str = "") -> tuple[Copy, bytes]:
        """One file of a copy; Conflict where the copy is not, or no longer, the one with this digest."""
        for turn in range(_TRIES):
            seen = self._look(self._place(name, version), keep=path)
            whole = seen is not None and (seen.record or seen.by_hand)
            if seen and whole and digest in ("", seen.tree.digest):
                copy = self._copy(name, version, seen)
                copy.entry(path)
                return copy, seen.tree.kept[path]
            time.sleep(_PAUSE if turn < _TRIES - 1 else 0)
        if seen is None:
            raise NotFound(f"{paths.display(name)} {paths.display(version)} was not resolved here, or is gone.")
        raise Conflict("The copy changed since it was resolved. Resolve it again.", digest=seen.tree.digest)

    def vouches_for(self, name: str, version: str, digest: str) -> bool:
        """Whether these very bytes were checked and kept under this version before."""
        return self._place(name, version).records.find(digest)[0] is not None

    def keep(self, name: str, version: str, bundle: Bundle, *, origin: str) -> Copy:
        """Puts a copy in place, or finds that somebody else did so first and gives theirs."""
        place, record = self._place(name, version), _said(bundle, name, origin, self._limits)
        fresh = files.sibling(place.directory, files.TEMPORARY_PREFIX)
        files.make_directories(place.directory.parent)
        try:
            files.write_tree(fresh, bundle, private=True, durable=True)
            for _ in range(_TRIES):
                if self._put(fresh, place, bundle, record):
                    return self._made(name, version, bundle, record)
                standing = self.find(name, version, origin=origin)
                if standing is not None:
                    return _told_apart(standing, bundle)
                self._set_aside(place)
        finally:
            files.remove(fresh)
        raise OSError("other processes keep changing it")

    def rewrite(self, name: str, version: str, bundle: Bundle) -> Copy:
        """Makes the copy be this one text, whatever stood there. Who writes last stays."""
        place, record = self._place(name, version), _said(bundle, name, INLINE, self._limits)
        files.make_directories(place.directory.parent)
        seen = self._look(place, INLINE)
        if seen is None or seen.tree.digest != bundle.digest:
            self._replace(place, bundle, record, seen)
        elif seen.record is None or seen.record.origin != INLINE:
            place.records.write(record)
        place.records.drop_stale(bundle.digest)
        return self._made(name, version, bundle, record)

    def _replace(self, place: _Place, bundle: Bundle, record: Record, seen: _Seen | None) -> None:
        if seen and [entry.path for entry in seen.tree.manifest] == [SKILL_MD]:
            place.records.write(record)
            try:
                # One file in place of one file: nobody finds a moment without it.
                file = place.directory / SKILL_MD
                content = bundle[SKILL_MD]
                return files.write_atomically(file, content, mode=files.PRIVATE_FILE, staging=place.directory.parent)
            except FileNotFoundError:
                pass  # the directory is being replaced by somebody else
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
        """Whether the rename took the place. What it failed for is not guessed: the place is looked at."""
        vouching = place.records.write(record)
        try:
            fresh.rename(place.directory)
        except OSError as error:
            tree = directories.read(place.directory, limits=self._limits)
            if tree is not None and tree.digest == bundle.digest and not fresh.exists():
                return True  # it was done, and the answer of the network was lost
            vouching.unlink(missing_ok=True)
            if error.errno not in _TAKEN and not os.path.lexists(place.directory):
                raise  # nobody else was faster; the disk is full, read-only or another one
            return False
        files.sync_directory(place.directory.parent)
        return True

    def _set_aside(self, place: _Place, *, even_whole: bool = False) -> None:
        """Clears the place of what is no copy. Where somebody repaired it meanwhile, theirs goes back."""
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
            pass  # the place is taken again, by another good copy
        finally:
            files.remove(aside)

    def _look(self, place: _Place, origin: str = "", *, keep: str = SKILL_MD) -> _Seen | None:
        tree = directories.read(place.directory, keep=keep, limits=self._limits)
        if tree is None:
            return None
        record, any_record = place.records.find(tree.digest, origin)
        return _Seen(tree, record, by_hand=not any_record)

    def _copy(self, name: str, version: str, seen: _Seen) -> Copy:
        tree = seen.tree
        record = seen.record or _read(tree.kept[SKILL_MD], name, "", tree.digest, self._limits)
        where = self._root / name / version
        return Copy(name, version, where, tree.digest, tree.manifest, record.origin, record.description, record.tokens)

    def _made(self, name: str, version: str, bundle: Bundle, record: Record) -> Copy:
        where = self._root / name / version
        return Copy(
            name, version, where, bundle.digest, bundle.manifest, record.origin, record.description, record.tokens
        )

    def _place(self, name: str, version: str) -> _Place:
        return _place(self._root, name, version)


def _said(bundle: Bundle, name: str, origin: str, limits: Limits) -> Record:
    return _read(bundle[SKILL_MD], name, origin, bundle.digest, limits)


def _read(skill_md: bytes, name: str, origin: str, digest: str, limits: Limits) -> Record:
    """What SKILL.md says; one that does not name itself has the name of the definition, never that of a directory."""
    facts = _small_facts if len(skill_md) <= _SMALL else _facts
    return Record(origin, digest, *facts(skill_md, name, limits))


def _facts(text: bytes, name: str, limits: Limits) -> tuple[str, int]:
    said = skill_md.read(text, fallback_name=name, limits=limits)
    return said.description, token_estimate.estimate(said.instructions)


# A text that comes with every request is read once.
_small_facts = lru_cache(maxsize=500)(_facts)


def _told_apart(standing: Copy, mine: Bundle) -> Copy:
    if standing.digest != mine.digest:
        log.warning(
            "%s %s came twice with different bytes: %s is kept, %s is not.",
            paths.display(standing.name), paths.display(standing.version), standing.digest, mine.digest,
        )  # fmt: skip
    return standing
