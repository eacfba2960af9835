"""The bundled skills: an index of AGENT_SKILLS_DIRS in memory, refreshed by cheap stat checks.

A directory is parsed again only when the stamps of its files changed. A skill that stops parsing keeps its last good
entry and is reported, so that a file caught half written never takes a skill away from agents.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from registry.core import bundle as bundles
from registry.core import paths, skillmd, tokens
from registry.core.errors import InvalidSkill, NotFound, SkillsiteError, TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.core.merge import BUNDLED, Candidate, LeftOut
from registry.core.skill import SKILL_MD, Bundle, FileEntry, content_digest, normalise

Stamp = tuple[tuple[str, int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class DiskSkill:
    """SKILL.md stays in memory, so that loading a bundled skill never waits for a disk."""

    candidate: Candidate
    directory: Path
    root: Path
    files: tuple[FileEntry, ...]
    skill_md: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One settled state of the directories. `fingerprint` is of bundle digests: equal on every node."""

    skills: Mapping[str, tuple[DiskSkill, ...]] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    fingerprint: str = ""

    @property
    def candidates(self) -> Mapping[str, tuple[Candidate, ...]]:
        return {name: tuple(skill.candidate for skill in found) for name, found in self.skills.items()}


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: Stamp
    skill: DiskSkill | None
    problem: LeftOut | None


def snapshot() -> Snapshot:
    return index().snapshot()


def index() -> "DiskIndex":
    return _index(tuple(settings.AGENT_SKILLS_DIRS), settings.SKILLS_RELOAD_SECONDS, settings.LIMITS)


@lru_cache(maxsize=8)
def _index(roots: tuple[Path, ...], reload_seconds: int, limits: Limits) -> "DiskIndex":
    return DiskIndex(roots, reload_seconds=reload_seconds, limits=limits)


class DiskIndex:
    def __init__(
        self,
        roots: tuple[Path, ...],
        *,
        reload_seconds: float,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.roots = roots
        self.labels = _labels(roots)
        self.limits = limits
        self._reload_seconds = reload_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[Path, _Entry] = {}
        self._missing: list[LeftOut] = []
        self._snapshot: Snapshot | None = None
        self._next_look = 0.0

    def snapshot(self) -> Snapshot:
        current = self._snapshot
        if current is None:
            with self._lock:
                return self._snapshot or self._look()
        if self._reload_seconds and self._clock() >= self._next_look and self._lock.acquire(blocking=False):
            try:
                return self._look()
            finally:
                self._lock.release()
        return current

    def refresh(self) -> Snapshot:
        """Looks again now, whatever the clock says."""
        with self._lock:
            return self._look()

    def read(self, skill: DiskSkill, entry: FileEntry) -> bytes:
        """The bytes the index promised, or an error: what changed on disk is never served under an old digest."""
        if entry.path == SKILL_MD:
            return skill.skill_md
        try:
            content = _read_file(_confined(skill.root, skill.directory, skill.directory / entry.path), entry.size)
        except (OSError, SkillsiteError):
            content = b""
        if content_digest(content) != entry.digest:
            self.refresh()
            raise NotFound(f"{entry.path} of {skill.candidate.name} changed on disk while it was read. Ask again.")
        return content

    def _look(self) -> Snapshot:
        self._next_look = self._clock() + self._reload_seconds
        entries: dict[Path, _Entry] = {}
        missing: list[LeftOut] = []
        for root in self.roots:
            try:
                directories = sorted(entry for entry in root.iterdir() if not entry.name.startswith("."))
            except OSError as error:
                missing.append(_unreachable(self.labels[root], error))
                continue
            for directory in directories:
                if (entry := self._entry(root, directory)) is not None:
                    entries[directory] = entry
        changed = (entries, missing) != (self._entries, self._missing)
        self._entries, self._missing = entries, missing
        if changed or self._snapshot is None:
            self._snapshot = self._assemble()
        return self._snapshot

    def _entry(self, root: Path, directory: Path) -> _Entry | None:
        """The entry of one directory: the known one while its stamps stand, else read anew."""
        known = self._entries.get(directory)
        label = f"{self.labels[root]}/{directory.name}"
        try:
            stamp = _stamp(root, directory)
            if stamp is None:
                return None
            if known and known.stamp == stamp:
                return known
            return _Entry(stamp, self._read_skill(root, directory, stamp), None)
        except (SkillsiteError, OSError) as error:
            problem = _problem(directory.name, label, error)
            return _Entry((), known.skill if known else None, problem)

    def _read_skill(self, root: Path, directory: Path, stamp: Stamp) -> DiskSkill:
        files = _read_all(root, directory, stamp, self.limits)
        bundle = Bundle(files)
        skill = skillmd.read(bundle[SKILL_MD], fallback_name=directory.name, limits=self.limits)
        name = paths.component(normalise(skill.name), what="name")
        if skill.version is not None:
            paths.component(skill.version, what="version")
        candidate = Candidate(
            name=name,
            source=BUNDLED,
            version=skill.version or f"sha-{bundle.digest.removeprefix('sha256:')[:12]}",
            digest=bundle.digest,
            description=skill.description,
            kind=skill.kind,
            tags=skill.tags,
            requires=skill.requires,
            triggers=skill.triggers,
            tokens=tokens.estimate(skill.instructions),
            root=self.labels[root],
            changed_at=datetime.fromtimestamp(max(row[2] for row in stamp) / 1e9, tz=UTC),
            changed_by=self.labels[root],
        )
        return DiskSkill(candidate, directory, root, bundle.manifest, bundle[SKILL_MD])

    def _assemble(self) -> Snapshot:
        skills: dict[str, tuple[DiskSkill, ...]] = {}
        left_out = list(self._missing)
        for entry in self._entries.values():
            if entry.problem:
                left_out.append(entry.problem)
            if entry.skill:
                name = entry.skill.candidate.name
                skills[name] = (*skills.get(name, ()), entry.skill)
        said = hashlib.sha256()
        for name in sorted(skills):
            for skill in skills[name]:
                said.update(f"{name} {skill.candidate.version} {skill.candidate.digest}\n".encode())
        for problem in left_out:
            said.update(f"{problem}\n".encode())
        return Snapshot(skills, tuple(left_out), said.hexdigest())


def _labels(roots: tuple[Path, ...]) -> dict[Path, str]:
    """Names for directories that tell them apart without telling where they are."""
    names = [root.name for root in roots]
    return {
        root: root.name if names.count(root.name) == 1 else f"{root.name} ({position})"
        for position, root in enumerate(roots, start=1)
    }


def _stamp(root: Path, directory: Path) -> Stamp | None:
    """The stat of every file of a skill; None where the directory is none."""
    if directory.is_symlink():
        paths.confined(root, directory.name)
    if not (directory / SKILL_MD).is_file():
        return None
    rows = []
    for path in _files(root, directory):
        status = path.stat()
        relative = path.relative_to(directory).as_posix()
        rows.append((relative, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(rows))


def _files(root: Path, directory: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(directory):
        folders[:] = [folder for folder in folders if folder not in {"__pycache__", "__MACOSX", ".git"}]
        for folder in folders:
            if Path(parent, folder).is_symlink():
                file = Path(parent, folder).relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is a link to a directory. Put the files themselves there.", file=file)
        for name in names:
            path = Path(parent, name)
            if bundles.is_junk(name):
                continue
            if path.is_symlink():
                _confined(root, directory, path)
            elif not path.is_file():
                file = path.relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is not an ordinary file.", file=file)
            yield path


def _confined(root: Path, directory: Path, path: Path) -> Path:
    try:
        return paths.confined(root, _inside(root, path))
    except UnsafePath as error:
        raise UnsafePath(error.message, file=path.relative_to(directory).as_posix()) from error


def _inside(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _read_all(root: Path, directory: Path, stamp: Stamp, limits: Limits) -> dict[str, bytes]:
    if len(stamp) > limits.files:
        raise TooLarge(f"The directory holds {len(stamp):,} files. {limits.files:,} are allowed.")
    files: dict[str, bytes] = {}
    total = 0
    for relative, *_ in stamp:
        content = _read_file(_confined(root, directory, directory / relative), limits.file_bytes)
        if len(content) > limits.file_bytes:
            raise TooLarge(f"{relative} is larger than the {limits.file_bytes:,} bytes allowed.", file=relative)
        total += len(content)
        if total > limits.expanded_bytes:
            raise TooLarge(f"The directory holds more than the {limits.expanded_bytes:,} bytes allowed.")
        files[relative] = content
    return files


def _read_file(path: Path, most: int) -> bytes:
    """At most one byte more than `most`, never through a link that appeared since the path was checked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def _problem(name: str, directory: str, error: Exception) -> LeftOut:
    if isinstance(error, InvalidSkill) and error.findings:
        first = error.findings[0]
        message = f"{first.message} {first.fix}".strip()
        return LeftOut(normalise(name), directory, first.file, first.line, first.rule, message)
    if isinstance(error, SkillsiteError):
        file = str(error.data.get("file", SKILL_MD))
        return LeftOut(normalise(name), directory, file, None, error.code, error.message)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return LeftOut(normalise(name), directory, SKILL_MD, None, "unreadable", f"The files cannot be read: {reason}.")


def _unreachable(label: str, error: OSError) -> LeftOut:
    message = f"The skills directory “{label}” cannot be read: {error.strerror}. Check AGENT_SKILLS_DIRS."
    return LeftOut("", label, "", None, "directory-unreachable", message)
