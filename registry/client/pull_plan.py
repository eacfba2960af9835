"""Plans a pull: decides what to do with each directory from the site's list, the lock file and the local files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from registry.client.errors import LocalProblem
from registry.client.files import list_tree
from registry.client.lock import NAME, LockEntry
from registry.client.values import EffectiveSkill
from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, bundle_digest
from registry.core.errors import UnsafePath

Action = Literal["same", "add", "update", "remove", "gone", "keep", "refuse"]

_EDITED = "its files were edited here"
_NOT_OURS = "it was not installed by a pull"
_NO_SKILL = f"it has no {SKILL_MD}, so it may not be a skill; move or delete it yourself"


@dataclass(frozen=True, slots=True)
class Step:
    """The action for one skill. `keep` and `refuse` change nothing, and `reason` says why.

    `found` are the digests of the local directory, or None if nothing exists. `local_digest` is that of them that a
    pull installed.
    """

    name: str
    action: Action
    remote: EffectiveSkill | None = None
    locked: LockEntry | None = None
    local_digest: str = ""
    reason: str = ""
    found: frozenset[str] | None = None

    @property
    def is_change(self) -> bool:
        return self.action in ("add", "update", "remove")

    @property
    def is_kept(self) -> bool:
        return self.action in ("keep", "refuse")

    def __str__(self) -> str:
        if self.is_kept:
            return f"! {self.name}: {self.reason}"
        if self.remote is None:
            return f"- {self.name}"
        if self.action == "update" and self.locked:
            return f"~ {self.name} {self.locked.version} → {self.remote.version}"
        return f"+ {self.name} {self.remote.version}"


def steps(
    directory: Path, remote: Iterable[EffectiveSkill], locked: Mapping[str, LockEntry], *, force: bool
) -> tuple[Step, ...]:
    """Return the steps in order of names. Directories in neither list are ignored, because they are not ours."""
    listed = tuple(remote)
    by_name = {one.name: one for one in listed}
    names = sorted({*by_name, *locked})
    _check_collisions([*(one.name for one in listed), *(name for name in locked if name not in by_name)])
    return tuple(_step(directory, name, by_name.get(name), locked.get(name), force=force) for name in names)


def _check_collisions(names: Iterable[str]) -> None:
    """Refuse names that are one directory on some systems. Removing one skill would remove the other."""
    try:
        paths.check_collisions(name for name in names if _is_safe(name))
    except UnsafePath as error:
        raise LocalProblem(f"Two skills need the same directory: {error.message}") from error


def _is_safe(name: str) -> bool:
    try:
        paths.check_component(name, what="name of the skill")
    except UnsafePath:
        return False
    return True


def _step(directory: Path, name: str, remote: EffectiveSkill | None, locked: LockEntry | None, *, force: bool) -> Step:
    try:
        target = directory / paths.check_component(name, what="name of the skill")
    except UnsafePath as error:
        return Step(name, "refuse", remote, locked, reason=error.message)
    if name == NAME:
        return Step(name, "refuse", remote, locked, reason="its name is that of the lock file")
    local = digests(target)
    if local is None:
        return Step(name, "add" if remote else "gone", remote, locked)
    if remote and remote.digest in local:
        return Step(name, "same", remote, locked, remote.digest, found=local)
    known = {locked.digest, locked.replaces} if locked else set()
    local_digest = next(iter(known & local), "")
    reason = _EDITED if locked else _NOT_OURS
    if remote is None and not local_digest:
        # Not even by force: a lock file from elsewhere may name any directory of this machine.
        return Step(name, "refuse", None, locked, reason=f"removed from the project, but {reason}; delete it yourself")
    if (local_digest or force) and not is_skill(target):
        return Step(name, "refuse", remote, locked, reason=_NO_SKILL)
    if local_digest or force:
        return Step(name, "update" if remote else "remove", remote, locked, local_digest, found=local)
    return Step(name, "keep", remote, locked, reason=reason)


def is_skill(target: Path) -> bool:
    """Return whether a pull may replace this: a directory with a SKILL.md, or a link, whose target stays."""
    skill_md = target / SKILL_MD
    return target.is_symlink() or (skill_md.is_file() and not skill_md.is_symlink())


def digests(target: Path) -> frozenset[str] | None:
    """Return the digests with and without by-products of running scripts, or None if nothing exists."""
    if not target.is_symlink() and not target.exists():
        return None
    entries = list_tree(target) if target.is_dir() and not target.is_symlink() else None
    if entries is None:
        return frozenset()
    tidy = [entry for entry in entries if not _by_product(entry.path)]
    return frozenset({bundle_digest(entries), bundle_digest(tidy)})


def _by_product(path: str) -> bool:
    return zip_bundle.is_junk(path) or "__pycache__" in path.split("/")
