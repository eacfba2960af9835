"""What a pull does to each directory: decided from the site's list, the lock and the bytes that are there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.client.files import read_tree
from registry.client.lock import NAME, Placed
from registry.client.values import Effective
from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.bundle import FileEntry, bundle_digest, content_digest
from registry.core.errors import UnsafePath

Action = Literal["same", "add", "update", "remove", "gone", "keep", "refuse"]

_EDITED = "its files were changed here"
_NOT_OURS = "it was not placed here by a pull"


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done under one name. `keep` and `refuse` leave it as it is, and `reason` says why.

    `found` is the digest of the directory where it is one that a pull placed.
    """

    name: str
    action: Action
    wanted: Effective | None = None
    placed: Placed | None = None
    found: str = ""
    reason: str = ""

    @property
    def is_change(self) -> bool:
        return self.action in ("add", "update", "remove")

    @property
    def is_left(self) -> bool:
        return self.action in ("keep", "refuse")

    def __str__(self) -> str:
        if self.is_left:
            return f"! {self.name}: {self.reason}"
        if self.wanted is None:
            return f"- {self.name}"
        if self.action == "update" and self.placed:
            return f"~ {self.name} {self.placed.version} → {self.wanted.version}"
        return f"+ {self.name} {self.wanted.version}"


def steps(
    directory: Path, wanted: Iterable[Effective], placed: Mapping[str, Placed], *, force: bool
) -> tuple[Step, ...]:
    """In order of names. A name that is in neither list is somebody else's, and is not even looked at."""
    by_name = {one.name: one for one in wanted}
    names = sorted({*by_name, *placed})
    return tuple(_step(directory, name, by_name.get(name), placed.get(name), force=force) for name in names)


def _step(directory: Path, name: str, wanted: Effective | None, placed: Placed | None, *, force: bool) -> Step:
    try:
        target = directory / paths.check_component(name, what="name of the skill")
    except UnsafePath as error:
        return Step(name, "refuse", wanted, placed, reason=error.message)
    if name == NAME:
        return Step(name, "refuse", wanted, placed, reason="a skill of this name would take the place of the lock file")
    there = digests(target)
    if there is None:
        return Step(name, "add" if wanted else "gone", wanted, placed)
    if wanted and wanted.digest in there:
        return Step(name, "same", wanted, placed, wanted.digest)
    known = {placed.digest, placed.replaces} if placed else set()
    found = next(iter(known & there), "")
    if found or force:
        return Step(name, "update" if wanted else "remove", wanted, placed, found)
    reason = _EDITED if placed else _NOT_OURS
    return Step(name, "keep", wanted, placed, reason=reason if wanted else f"the project has it no more, and {reason}")


def digests(target: Path) -> frozenset[str] | None:
    """The digest of what is there, and the one without what running it leaves behind; None where there is nothing."""
    if not target.is_symlink() and not target.exists():
        return None
    found = read_tree(target) if target.is_dir() and not target.is_symlink() else None
    if found is None:
        return frozenset()
    entries = [FileEntry(path, len(content), content_digest(content)) for path, content in found.items()]
    tidy = [entry for entry in entries if not _by_product(entry.path)]
    return frozenset({bundle_digest(entries), bundle_digest(tidy)})


def _by_product(path: str) -> bool:
    return zip_bundle.is_junk(path) or "__pycache__" in path.split("/")
