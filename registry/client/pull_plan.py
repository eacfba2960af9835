"""Plans a pull: decides what to do with each directory from the site's list, the lock file and the local files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.client.files import read_tree
from registry.client.lock import NAME, LockEntry
from registry.client.values import EffectiveSkill
from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.bundle import FileEntry, bundle_digest, content_digest
from registry.core.errors import UnsafePath

Action = Literal["same", "add", "update", "remove", "gone", "keep", "refuse"]

_EDITED = "its files were edited here"
_NOT_OURS = "it was not installed by a pull"


@dataclass(frozen=True, slots=True)
class Step:
    """The action for one skill. `keep` and `refuse` change nothing, and `reason` says why.

    `found` is the digest of the local directory if a pull installed it.
    """

    name: str
    action: Action
    wanted: EffectiveSkill | None = None
    placed: LockEntry | None = None
    found: str = ""
    reason: str = ""

    @property
    def is_change(self) -> bool:
        return self.action in ("add", "update", "remove")

    @property
    def is_kept(self) -> bool:
        return self.action in ("keep", "refuse")

    def __str__(self) -> str:
        if self.is_kept:
            return f"! {self.name}: {self.reason}"
        if self.wanted is None:
            return f"- {self.name}"
        if self.action == "update" and self.placed:
            return f"~ {self.name} {self.placed.version} → {self.wanted.version}"
        return f"+ {self.name} {self.wanted.version}"


def steps(
    directory: Path, wanted: Iterable[EffectiveSkill], placed: Mapping[str, LockEntry], *, force: bool
) -> tuple[Step, ...]:
    """Return the steps in order of names. Directories in neither list are ignored, because they are not ours."""
    by_name = {one.name: one for one in wanted}
    names = sorted({*by_name, *placed})
    return tuple(_step(directory, name, by_name.get(name), placed.get(name), force=force) for name in names)


def _step(directory: Path, name: str, wanted: EffectiveSkill | None, placed: LockEntry | None, *, force: bool) -> Step:
    try:
        target = directory / paths.check_component(name, what="name of the skill")
    except UnsafePath as error:
        return Step(name, "refuse", wanted, placed, reason=error.message)
    if name == NAME:
        return Step(name, "refuse", wanted, placed, reason="its name is that of the lock file")
    local = digests(target)
    if local is None:
        return Step(name, "add" if wanted else "gone", wanted, placed)
    if wanted and wanted.digest in local:
        return Step(name, "same", wanted, placed, wanted.digest)
    known = {placed.digest, placed.replaces} if placed else set()
    found = next(iter(known & local), "")
    if found or force:
        return Step(name, "update" if wanted else "remove", wanted, placed, found)
    reason = _EDITED if placed else _NOT_OURS
    return Step(name, "keep", wanted, placed, reason=reason if wanted else f"removed from the project, but {reason}")


def digests(target: Path) -> frozenset[str] | None:
    """Return the digests with and without by-products of running scripts, or None if nothing exists."""
    if not target.is_symlink() and not target.exists():
        return None
    contents = read_tree(target) if target.is_dir() and not target.is_symlink() else None
    if contents is None:
        return frozenset()
    entries = [FileEntry(path, len(content), content_digest(content)) for path, content in contents.items()]
    tidy = [entry for entry in entries if not _by_product(entry.path)]
    return frozenset({bundle_digest(entries), bundle_digest(tidy)})


def _by_product(path: str) -> bool:
    return zip_bundle.is_junk(path) or "__pycache__" in path.split("/")
