"""Updates a directory to the skills of the site. Each skill is replaced atomically, and local edits are kept."""

import os
import re
import secrets
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from registry.client import lock, pull_plan
from registry.client.atomic_swap import put_in_place
from registry.client.client import SkillsiteClient
from registry.client.directories import real_directory
from registry.client.errors import LocalProblem, NotCached, NotFound, Unreachable, Untrustworthy
from registry.client.files import write_tree
from registry.client.lock import Lock, LockEntry
from registry.client.pull_plan import Step
from registry.client.values import EffectiveSkill
from registry.core import paths
from registry.lib import files

if sys.platform != "win32":
    import fcntl

# Hidden and one level down, so that no agent loads an incomplete skill.
_STAGING = ".skillsite"
_NAME_BYTES = 8
_STAGED = re.compile(r"[0-9a-f]{16}(-[0-9a-f]{8})?")  # the second part: see `put_in_place`
_AT_ONCE = 8

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a pull: changed skills, kept ones, and failed downloads with the reason."""

    done: tuple[Step, ...]
    kept: tuple[Step, ...]
    failed: tuple[tuple[str, str], ...]
    skills: int
    from_cache: bool

    @property
    def complete(self) -> bool:
        return not self.kept and not self.failed


def check(client: SkillsiteClient, directory: Path) -> tuple[Step, ...]:
    """Return what a pull would change or keep, without writing anything."""
    directory = real_directory(directory)
    skills, _ = _site_skills(client)
    steps = pull_plan.steps(directory, skills, _locked(client, directory, force=False), force=False)
    return tuple(step for step in steps if step.is_change or step.is_kept)


def pull(
    client: SkillsiteClient,
    directory: Path,
    *,
    force: bool = False,
    progress: Progress = lambda done, total, name: None,
    waiting: Callable[[], None] = lambda: None,
) -> Report:
    """Install changed skills and remove deleted ones. `force` overwrites local edits."""
    directory = real_directory(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _exclusive(directory, waiting):
            # Inside the lock: a list from before the wait could be older than that of the other pull.
            skills, from_cache = _site_skills(client)
            steps = pull_plan.steps(directory, skills, _locked(client, directory, force=force), force=force)
            done, failed = _carry_out(client, directory, steps, progress, force=force)
    except OSError as error:
        raise LocalProblem(f"Could not use {error.filename or directory}: {error.strerror or error}.") from error
    kept = tuple(step for step in steps if step.is_kept)
    return Report(done, kept, tuple(sorted(failed.items())), len(skills), from_cache)


def _site_skills(client: SkillsiteClient) -> tuple[tuple[EffectiveSkill, ...], bool]:
    """Return the skills of the site. A cached list is used only offline, because it may have withdrawn skills."""
    effective = client.effective()
    if effective.from_cache and not client.offline:
        raise Unreachable("Could not reach the site. Nothing was changed.")
    return effective.skills, effective.from_cache


def _locked(client: SkillsiteClient, directory: Path, *, force: bool) -> Mapping[str, LockEntry]:
    existing = lock.read(directory)
    if existing is None:
        return {}
    if existing.source != client.source and not force:
        raise LocalProblem(
            f"{directory} has the skills of {existing.source}, not those of {client.source}. "
            "Choose another directory, or replace them with --force."
        )
    return existing.skills


def _carry_out(
    client: SkillsiteClient, directory: Path, steps: tuple[Step, ...], progress: Progress, *, force: bool
) -> tuple[tuple[Step, ...], dict[str, str]]:
    """Return the completed steps, and the reason for each name that failed."""
    changes = [step for step in steps if step.is_change]
    done: list[Step] = []
    failed: dict[str, str] = {}
    if changes:
        # Written first, so that the next pull knows which directories it may replace, even if this one is killed.
        before = {step.name: step.locked for step in steps if step.locked}
        lock.write(directory, Lock(client.source, before | _intended(changes)))
    with (
        _staging(directory, needed=bool(changes)) as staging,
        closing(_results(client, directory, staging, changes)) as results,
    ):
        for step, error in results:
            if error:
                failed[step.name] = error
            else:
                done.append(step)
            progress(len(done) + len(failed), len(changes), step.name)
    lock.write(directory, Lock(client.source, _records(steps, {step.name for step in done}, force=force)))
    return tuple(sorted(done, key=lambda step: step.name)), failed


def _intended(changes: list[Step]) -> dict[str, LockEntry]:
    return {step.name: replace(_record(step.remote), replaces=step.local_digest) for step in changes if step.remote}


def _records(steps: tuple[Step, ...], done: set[str], *, force: bool) -> dict[str, LockEntry]:
    """Return the new lock entries: skills that a pull installed and that still exist."""
    records: dict[str, LockEntry] = {}
    for step in steps:
        if step.remote and (step.name in done or (step.action == "same" and (step.locked or force))):
            records[step.name] = _record(step.remote)
        elif step.locked and step.action != "gone" and step.name not in done:
            records[step.name] = step.locked
    return records


def _record(skill: EffectiveSkill) -> LockEntry:
    return LockEntry(skill.version, skill.digest, skill.source)


def _results(
    client: SkillsiteClient, directory: Path, staging: Path, changes: list[Step]
) -> Generator[tuple[Step, str], None, None]:
    """Yield each finished step with its error message. Errors that affect all steps are raised."""
    pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
    try:
        running = {pool.submit(_do, client, directory, staging, step): step for step in changes}
        for future in as_completed(running):
            try:
                future.result()
                yield running[future], ""
            except (Untrustworthy, NotFound, NotCached, _ChangedMeanwhile) as error:
                yield running[future], error.message
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _ChangedMeanwhile(LocalProblem):
    """Somebody changed a directory after the pull was planned."""


def _do(client: SkillsiteClient, directory: Path, staging: Path, step: Step) -> None:
    """Carry out one step. What was replaced or removed is checked once more before it is deleted."""
    target = directory / paths.check_component(step.name, what="name of the skill")
    fresh = staging / secrets.token_hex(_NAME_BYTES)
    if step.remote is None:
        target.rename(fresh)
    else:
        bundle = client.fetch(step.remote)
        write_tree(fresh, bundle, private=False, durable=True)
        put_in_place(fresh, target)
    if pull_plan.digests(fresh) != step.found:
        put_in_place(fresh, target)
        files.remove(fresh)
        raise _ChangedMeanwhile("Its files changed during the pull. They were kept. Pull again.")
    files.sync_directory(directory)
    files.remove(fresh)


@contextmanager
def _staging(directory: Path, *, needed: bool) -> Iterator[Path]:
    """Create a temporary directory on the same file system. Leftovers of a killed pull are removed."""
    staging = directory / _STAGING
    _remove_staging(staging)
    if needed:
        staging.mkdir()
    try:
        yield staging
    finally:
        _remove_staging(staging)


def _remove_staging(staging: Path) -> None:
    """Remove what pulls leave here, and nothing else."""
    if staging.is_symlink() or not staging.is_dir():
        staging.unlink(missing_ok=True)
        return
    for path in staging.iterdir():
        if _STAGED.fullmatch(path.name):
            files.remove(path)
    try:
        staging.rmdir()
    except OSError as error:
        message = f"{staging} contains files that are not from a pull. Move or delete them."
        raise LocalProblem(message) from error


@contextmanager
def _exclusive(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Allow one pull at a time in a directory. The system releases the lock even if the process is killed."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
