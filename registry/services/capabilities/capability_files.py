"""Capability files of operators: an index of CAPABILITIES_DIRS in memory, refreshed by cheap stat checks.

A file that becomes invalid keeps its last good definition, so a typing error stops no run. A file that is removed takes
its capability with it.
"""

import errno
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from registry.core.findings import Finding, Severity, errors, in_reading_order
from registry.core.limits import Limits
from registry.core.workflows import capability_linking, capability_yaml
from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_scope import Site
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.capability_yaml import Draft
from registry.lib.rechecks import Rechecked
from registry.remote.outbound_http import host_of
from registry.services.catalog.built_in import labels
from registry.services.catalog.built_in_files import printable
from registry.services.resolve.outbound_http import allowed_hosts

log = logging.getLogger(__name__)

MOST_FILES = 1_000
UNREADABLE, MANY = "capability-unreadable", "capability-many"
_SUFFIXES = (".yaml", ".yml")
_ATTEMPTS = 3

BUILT_IN: Mapping[str, Capability] = {id_: builtin.capability for id_, builtin in BUILTINS.items()}

_Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CapabilityFile:
    """One file, or a directory that cannot be read. `id` is empty if nothing of it is used.

    `is_stale` is true if the file has errors and an earlier definition is used instead.
    """

    label: str
    id: str = ""
    findings: tuple[Finding, ...] = ()
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of the directories. `capabilities` has the built-in ones too. `files` maps ids to their labels."""

    capabilities: CapabilitySet
    files: tuple[CapabilityFile, ...] = ()

    @property
    def broken(self) -> tuple[CapabilityFile, ...]:
        return tuple(file for file in self.files if errors(file.findings))


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: _Stamp
    label: str
    draft: Draft | None = None  # the last good one
    findings: tuple[Finding, ...] = ()


def site() -> Site:
    """Return the settings that definitions are checked against."""
    return Site(
        secrets=frozenset(settings.WORKFLOW_SECRETS),
        hosts=allowed_hosts(),
        model=settings.WORKFLOW_LLM_MODEL,
        model_host=host_of(settings.WORKFLOW_LLM_URL) if settings.WORKFLOW_LLM_URL else "",
    )


def snapshot() -> Snapshot:
    roots = tuple(map(Path, settings.CAPABILITIES_DIRS))
    return _index(roots, settings.SKILLS_RELOAD_SECONDS, settings.LIMITS, site()).snapshot()


@lru_cache(maxsize=8)
def _index(roots: tuple[Path, ...], reload_seconds: float, limits: Limits, site: Site) -> "CapabilityIndex":
    return CapabilityIndex(roots, reload_seconds=reload_seconds, limits=limits, site=site)


class CapabilityIndex(Rechecked[Snapshot]):
    def __init__(
        self, roots: tuple[Path, ...], *, reload_seconds: float, limits: Limits, site: Site,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        super().__init__(reload_seconds, clock)
        self._roots, self._labels, self._limits, self._site = roots, labels(roots), limits, site
        self._entries: dict[Path, _Entry] = {}
        self._faults: list[CapabilityFile] = []
        self._linked: dict[Path, Capability] = {}

    def _look_again(self, last: Snapshot | None) -> Snapshot:
        faults: list[CapabilityFile] = []
        entries = {path: self._entry(path, label, stamp) for path, label, stamp in self._look(faults)}
        changed = (entries, faults) != (self._entries, self._faults)
        self._entries, self._faults = entries, faults
        return self._assemble() if changed or last is None else last

    def _look(self, faults: list[CapabilityFile]) -> Iterator[tuple[Path, str, _Stamp]]:
        """Yield the files with their labels and stamps. Add directories that cannot be used to `faults`."""
        count = 0
        for root in self._roots:
            label = self._labels[root]
            try:
                with os.scandir(root) as found:
                    names = sorted(each.name for each in found if _is_capability_file(each.name))
            except OSError as error:
                message = f"The directory “{label}” can’t be read: {error.strerror}."
                faults.append(_fault(label, UNREADABLE, message, "Check CAPABILITIES_DIRS."))
                continue
            for name in names:
                count += 1
                if count > MOST_FILES:
                    message = f"There are more than {MOST_FILES:,} capability files. The others are not read."
                    faults.append(_fault(label, MANY, message, "Remove some of them."))
                    return
                file_label = f"{label}/{printable(name)}"
                try:
                    yield root / name, file_label, _stamp(root / name)
                except OSError as error:
                    if known := self._entries.get(root / name):
                        yield root / name, known.label, ()
                    else:
                        faults.append(_unreadable(file_label, error))

    def _entry(self, path: Path, label: str, stamp: _Stamp) -> _Entry:
        known = self._entries.get(path)
        if known and stamp and known.stamp == stamp:
            return known
        last_good = known.draft if known else None
        try:
            stamp, content = _read(path, stamp, self._limits.frontmatter_bytes + 1)
        except OSError as error:
            return _Entry((), label, last_good, _unreadable(label, error).findings)
        parsed = capability_yaml.parse(content, file=label, limits=self._limits)
        return _Entry(stamp, label, parsed.draft or last_good, parsed.findings)

    def _assemble(self) -> Snapshot:
        paths = [path for path, entry in self._entries.items() if entry.draft]
        drafts = [entry.draft for entry in self._entries.values() if entry.draft]
        linked = dict(zip(paths, capability_linking.link(drafts, BUILT_IN, self._site), strict=True))
        self._linked = {
            path: capability for path in paths if (capability := linked[path].capability or self._linked.get(path))
        }
        files = [*self._faults]
        for path, entry in self._entries.items():
            found = linked.get(path)
            own = errors(entry.findings)
            findings = in_reading_order({*entry.findings, *(found.findings if found and not own else ())})
            used = self._linked.get(path)
            files.append(
                CapabilityFile(entry.label, used.id if used else "", findings, bool(used and errors(findings)))
            )
        for file in files:
            for problem in errors(file.findings):
                log.warning("%s: %s %s", problem.place, problem.message, problem.fix)
        usable = CapabilitySet([*BUILT_IN.values(), *self._linked.values()])
        return Snapshot(usable, tuple(files))


def _is_capability_file(name: str) -> bool:
    return name.endswith(_SUFFIXES) and not name.startswith(".")


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "It is not a regular file", str(path))
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _read(path: Path, before: _Stamp, most: int) -> tuple[_Stamp, bytes]:
    """Return a file as of one moment: read again if it changed meanwhile. Without a stamp, the next check reads it."""
    content = b""
    for _ in range(_ATTEMPTS):
        with path.open("rb") as file:
            content = file.read(most)
        after = _stamp(path)
        if after == before:
            return after, content
        before = after
    return (), content


def _fault(label: str, rule: str, message: str, fix: str) -> CapabilityFile:
    return CapabilityFile(label, findings=(Finding(rule, Severity.ERROR, label, None, message, fix),))


def _unreadable(label: str, error: OSError) -> CapabilityFile:
    return _fault(label, UNREADABLE, f"The file can’t be read: {error.strerror}.", "Check its permissions.")
