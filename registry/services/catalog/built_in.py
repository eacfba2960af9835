"""Built-in skills: an index of AGENT_SKILLS_DIRS in memory, refreshed by cheap stat checks.

A directory is parsed again only if the stat of its files changed. A skill that no longer parses keeps its last good
state and is reported, so that agents never lose a skill to a half-written file. A skill without its SKILL.md is kept
for one more check, because tools replace a file by removing it first. A skill without its directory is dropped at once.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from registry.core import paths
from registry.core.bundle import SKILL_MD, Bundle, FileEntry, content_digest, normalise
from registry.core.catalog.precedence import BUNDLED, Candidate, Diagnostic
from registry.core.errors import InvalidSkill, NotFound, SkillsiteError, UnsafePath
from registry.core.limits import Limits
from registry.lib.rechecks import Rechecked
from registry.services.catalog import built_in_files, built_in_headers
from registry.services.catalog.built_in_files import Stamp, printable
from registry.services.catalog.built_in_headers import Header

log = logging.getLogger(__name__)

_GONE = "skill-md-gone"
_BATCH = 256  # directories whose headers are looked up at once


@dataclass(frozen=True, slots=True)
class BuiltInSkill:
    """A built-in skill. SKILL.md stays in memory, so that loading the skill needs no disk access."""

    candidate: Candidate
    directory: Path
    root: Path
    files: tuple[FileEntry, ...]
    skill_md: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of the directories. `fingerprint` depends on content only, so it is equal on every node."""

    skills: Mapping[str, tuple[BuiltInSkill, ...]] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    fingerprint: str = ""

    @property
    def candidates(self) -> Mapping[str, tuple[Candidate, ...]]:
        return {name: self.candidates_of(name) for name in self.skills}

    def candidates_of(self, name: str) -> tuple[Candidate, ...]:
        """Return the built-in skills of one name in the order of their directories."""
        return tuple(skill.candidate for skill in self.skills.get(name, ()))

    def find(self, candidate: Candidate) -> BuiltInSkill:
        """Return the skill behind a candidate of this snapshot."""
        return next(skill for skill in self.skills[candidate.name] if skill.candidate is candidate)


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: Stamp
    skill: BuiltInSkill | None
    problem: Diagnostic | None


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a directory whose header is not known yet. Only SKILL.md stays in memory."""

    stamp: Stamp
    digest: str
    manifest: tuple[FileEntry, ...]
    skill_md: bytes


def snapshot() -> Snapshot:
    return index().snapshot()


def index() -> "BuiltInIndex":
    return _index(tuple(settings.AGENT_SKILLS_DIRS), settings.SKILLS_RELOAD_SECONDS, settings.LIMITS)


@lru_cache(maxsize=8)
def _index(roots: tuple[Path, ...], reload_seconds: int, limits: Limits) -> "BuiltInIndex":
    return BuiltInIndex(roots, reload_seconds=reload_seconds, limits=limits)


class BuiltInIndex(Rechecked[Snapshot]):
    def __init__(
        self,
        roots: tuple[Path, ...],
        *,
        reload_seconds: float,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(reload_seconds, clock)
        self.roots = roots
        self.labels = labels(roots)
        self.limits = limits
        self._entries: dict[Path, _Entry] = {}
        self._missing: list[Diagnostic] = []

    def read(self, skill: BuiltInSkill, entry: FileEntry) -> bytes:
        """Return the content of a file, or raise NotFound if it no longer matches the digest in the index."""
        if entry.path == SKILL_MD:
            return skill.skill_md
        try:
            content = built_in_files.read(skill.root, skill.directory, entry.path, entry.size)
        except (OSError, SkillsiteError):
            content = b""
        if content_digest(content) != entry.digest:
            self.refresh()
            raise NotFound(f"{entry.path} of {skill.candidate.name} changed on disk while it was read. Try again.")
        return content

    def _look_again(self, last: Snapshot | None) -> Snapshot:
        entries: dict[Path, _Entry] = {}
        missing: list[Diagnostic] = []
        for root in self.roots:
            try:
                directories = sorted(entry for entry in root.iterdir() if not entry.name.startswith("."))
            except OSError as error:
                missing.append(_unreachable(self.labels[root], error))
                continue
            for start in range(0, len(directories), _BATCH):
                entries |= self._read(root, directories[start : start + _BATCH])
        changed = (entries, missing) != (self._entries, self._missing)
        self._entries, self._missing = entries, missing
        return self._assemble() if changed or last is None else last

    def _read(self, root: Path, directories: Sequence[Path]) -> dict[Path, _Entry]:
        """Return the entries of directories: the known ones whose stamp is unchanged, and others read again."""
        found: dict[Path, _Entry] = {}
        changed: dict[Path, _Files] = {}
        for directory in directories:
            try:
                entry = self._look_at(root, directory)
            except (SkillsiteError, OSError) as error:
                entry = self._refused(root, directory, error)
            if isinstance(entry, _Entry):
                found[directory] = entry
            elif entry is not None:
                changed[directory] = entry
        found |= self._parse(root, changed)
        return {directory: found[directory] for directory in directories if directory in found}

    def _look_at(self, root: Path, directory: Path) -> _Entry | _Files | None:
        """Return the known entry of a directory, its files if they changed, or None if it is not a skill."""
        known = self._entries.get(directory)
        stamp = built_in_files.stamp(root, directory)
        if stamp is None:
            return _without_skill_md(directory, self._label(root, directory), known)
        if known and known.stamp == stamp:
            return known
        stamp, files = built_in_files.read_all(root, directory, stamp, self.limits)
        bundle = Bundle(files)
        return _Files(stamp, bundle.digest, bundle.manifest, bundle[SKILL_MD])

    def _parse(self, root: Path, changed: Mapping[Path, _Files]) -> dict[Path, _Entry]:
        found: dict[Path, _Entry] = {}

        def refuse(directory: Path, error: SkillsiteError) -> None:
            found[directory] = self._refused(root, directory, error)

        contents = {directory: (directory.name, files.skill_md) for directory, files in changed.items()}
        for directory, header in built_in_headers.read_each(contents, self.limits, refuse).items():
            files = changed[directory]
            try:
                skill = self._skill(root, directory, files, header)
            except SkillsiteError as error:
                refuse(directory, error)
            else:
                found[directory] = _Entry(files.stamp, skill, _long(skill, self._label(root, directory), self.limits))
        return found

    def _refused(self, root: Path, directory: Path, error: SkillsiteError | OSError) -> _Entry:
        """Return the last good skill of a directory, if there is one, with the problem."""
        known = self._entries.get(directory)
        problem = _problem(directory.name, self._label(root, directory), error)
        last_good = known.skill if known else None
        return _Entry((), last_good, replace(problem, served=last_good is not None))

    def _label(self, root: Path, directory: Path) -> str:
        return f"{self.labels[root]}/{printable(directory.name)}"

    def _skill(self, root: Path, directory: Path, files: _Files, header: Header) -> BuiltInSkill:
        name = _component(normalise(header.name), "name")
        if header.version is not None:
            _component(header.version, "version")
        candidate = Candidate(
            name=name,
            source=BUNDLED,
            version=header.version or f"sha-{files.digest.removeprefix('sha256:')[:12]}",
            digest=files.digest,
            description=header.description,
            kind=header.kind,
            tags=header.tags,
            requires=header.requires,
            triggers=header.triggers,
            tokens=header.tokens,
            root=self.labels[root],
            changed_at=datetime.fromtimestamp(max(row[2] for row in files.stamp) / 1e9, tz=UTC),
            changed_by=self.labels[root],
        )
        return BuiltInSkill(candidate, directory, root, files.manifest, files.skill_md)

    def _assemble(self) -> Snapshot:
        skills: dict[str, tuple[BuiltInSkill, ...]] = {}
        diagnostics = list(self._missing)
        for entry in self._entries.values():
            if entry.problem:
                diagnostics.append(entry.problem)
            if entry.skill:
                name = entry.skill.candidate.name
                skills[name] = (*skills.get(name, ()), entry.skill)
        fingerprint = hashlib.sha256()
        for name in sorted(skills):
            for skill in skills[name]:
                fingerprint.update(f"{name} {skill.candidate.version} {skill.candidate.digest}\n".encode())
        for problem in diagnostics:
            fingerprint.update(f"{problem}\n".encode())
        return Snapshot(skills, tuple(diagnostics), fingerprint.hexdigest())


def labels(roots: tuple[Path, ...]) -> dict[Path, str]:
    """Return a label for each directory that is unique and does not reveal its path."""
    names = [printable(root.name) for root in roots]
    return {
        root: name if names.count(name) == 1 else f"{name} ({position})"
        for position, (root, name) in enumerate(zip(roots, names, strict=True), start=1)
    }


def _component(value: str, what: str) -> str:
    try:
        return paths.check_component(value, what=what)
    except UnsafePath as error:
        raise UnsafePath(error.message, findings=error.findings, file=SKILL_MD) from error


def _without_skill_md(directory: Path, label: str, known: _Entry | None) -> _Entry | None:
    """Return the last good entry if this is the first check without the file, or None."""
    missed_before = known is not None and known.problem is not None and known.problem.code == _GONE
    if known is None or known.skill is None or missed_before or not directory.is_dir():
        return None
    message = f"{SKILL_MD} is missing. Agents lose this skill at the next check unless the file is back."
    name = normalise(printable(directory.name))
    return _Entry((), known.skill, Diagnostic(name, label, SKILL_MD, None, _GONE, message, served=True))


def _long(skill: BuiltInSkill, label: str, limits: Limits) -> Diagnostic | None:
    """Return a diagnostic for instructions over the loud limit, and log it."""
    name, tokens = skill.candidate.name, skill.candidate.tokens
    if tokens <= limits.loud_tokens:
        return None
    message = (
        f"The instructions are about {tokens:,} tokens long. Over {limits.loud_tokens:,}, agents lose track. "
        "Move details that are only sometimes needed to files in references/, and say when to read them."
    )
    log.warning("%s/%s of the built-in skill %s: %s", label, SKILL_MD, name, message)
    return Diagnostic(name, label, SKILL_MD, None, "tokens-loud", message, served=True)


def _problem(name: str, directory: str, error: Exception) -> Diagnostic:
    name = normalise(printable(name))
    if isinstance(error, SkillsiteError) and error.findings:
        first = error.findings[0]
        file = printable(str(error.data.get("file", first.file)))
        code = first.rule if isinstance(error, InvalidSkill) else error.code
        return Diagnostic(name, directory, file, first.line, code, f"{first.message} {first.fix}".strip())
    if isinstance(error, SkillsiteError):
        file = printable(str(error.data.get("file", SKILL_MD)))
        return Diagnostic(name, directory, file, None, error.code, error.message)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return Diagnostic(name, directory, SKILL_MD, None, "unreadable", f"The files can’t be read: {reason}.")


def _unreachable(label: str, error: OSError) -> Diagnostic:
    message = f"The skills directory “{label}” can’t be read: {error.strerror}. Check AGENT_SKILLS_DIRS."
    return Diagnostic("", label, "", None, "directory-unreachable", message)
