"""Brings a directory to what the site has: each skill whole at every moment, and nobody's edits lost."""

import os
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
from registry.client.errors import LocalProblem, NotCached, NotFound, Unreachable, Untrustworthy
from registry.client.files import write_tree
from registry.client.lock import Lock, Placed
from registry.client.pull_plan import Step
from registry.client.values import Effective
from registry.core import paths
from registry.core.errors import UnsafePath
from registry.lib import files

if sys.platform != "win32":
    import fcntl

# Hidden, and one level down, so that no agent takes a half-written skill for one.
_STAGING = ".skillsite"
_AT_ONCE = 8

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What was done, what was left as it is with the reason, and what could not be fetched."""

    done: tuple[Step, ...]
    left: tuple[Step, ...]
    failed: tuple[tuple[str, str], ...]
    skills: int
    from_cache: bool

    @property
    def complete(self) -> bool:
        return not self.left and not self.failed


def check(client: SkillsiteClient, directory: Path) -> tuple[Step, ...]:
    """What a pull would change or leave; nothing is written."""
    wanted, _ = _wanted(client)
    found = pull_plan.steps(directory, wanted, _placed(client, directory, force=False), force=False)
    return tuple(step for step in found if step.is_change or step.is_left)


def pull(
    client: SkillsiteClient,
    directory: Path,
    *,
    force: bool = False,
    progress: Progress = lambda done, total, name: None,
    waiting: Callable[[], None] = lambda: None,
) -> Report:
    """Transfers and places what changed, and removes what is gone. `force` gives up local edits."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _alone(directory, waiting):
            # Asked inside: who waited for another pull must not go back behind it.
            wanted, from_cache = _wanted(client)
            steps = pull_plan.steps(directory, wanted, _placed(client, directory, force=force), force=force)
            done, failed = _carry_out(client, directory, steps, progress, force=force)
    except OSError as error:
        raise LocalProblem(f"{error.filename or directory} cannot be used: {error.strerror or error}.") from error
    left = tuple(step for step in steps if step.is_left)
    return Report(done, left, tuple(sorted(failed.items())), len(wanted), from_cache)


def _wanted(client: SkillsiteClient) -> tuple[tuple[Effective, ...], bool]:
    """An old list is used only by who asked for it: it would bring back what was withdrawn since."""
    effective = client.effective()
    if effective.from_cache and not client.offline:
        raise Unreachable("The site cannot be reached. Nothing was changed.")
    try:
        paths.check_collisions(one.name for one in effective.skills)
    except UnsafePath as error:
        raise LocalProblem(f"Two skills cannot stand in one directory: {error.message}") from error
    return effective.skills, effective.from_cache


def _placed(client: SkillsiteClient, directory: Path, *, force: bool) -> Mapping[str, Placed]:
    found = lock.read(directory)
    if found is None:
        return {}
    if found.source != client.source and not force:
        raise LocalProblem(
            f"{directory} holds the skills of {found.source}, not those of {client.source}. "
            "Choose another directory, or replace them with --force."
        )
    return found.skills


def _carry_out(
    client: SkillsiteClient, directory: Path, steps: tuple[Step, ...], progress: Progress, *, force: bool
) -> tuple[tuple[Step, ...], dict[str, str]]:
    """The steps that were done, and the names that failed with the reason."""
    changes = [step for step in steps if step.is_change]
    done: list[Step] = []
    failed: dict[str, str] = {}
    if changes:
        # Written first: after a stop in the middle the next pull still knows every directory that it may replace.
        before = {step.name: step.placed for step in steps if step.placed}
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


def _intended(changes: list[Step]) -> dict[str, Placed]:
    return {step.name: replace(_record(step.wanted), replaces=step.found) for step in changes if step.wanted}


def _records(steps: tuple[Step, ...], done: set[str], *, force: bool) -> dict[str, Placed]:
    """Who is in the lock after this: what was placed, now or earlier, and is still there."""
    records: dict[str, Placed] = {}
    for step in steps:
        if step.wanted and (step.name in done or (step.action == "same" and (step.placed or force))):
            records[step.name] = _record(step.wanted)
        elif step.placed and step.action != "gone" and step.name not in done:
            records[step.name] = step.placed
    return records


def _record(wanted: Effective) -> Placed:
    return Placed(wanted.version, wanted.digest, wanted.source)


def _results(
    client: SkillsiteClient, directory: Path, staging: Path, changes: list[Step]
) -> Generator[tuple[Step, str], None, None]:
    """Each step as it ends, with what went wrong. What would go wrong for all of them ends the whole."""
    pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
    try:
        running = {pool.submit(_do, client, directory, staging, step): step for step in changes}
        for future in as_completed(running):
            try:
                future.result()
                yield running[future], ""
            except (Untrustworthy, NotFound, NotCached) as error:
                yield running[future], error.message
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _do(client: SkillsiteClient, directory: Path, staging: Path, step: Step) -> None:
    target = directory / paths.check_component(step.name, what="name of the skill")
    fresh = staging / secrets.token_hex(8)
    if step.wanted is None:
        target.rename(fresh)
    else:
        bundle = client.fetch(step.wanted)
        write_tree(fresh, bundle, private=False, durable=True)
        put_in_place(fresh, target)
    files.sync_directory(directory)
    files.remove(fresh)


@contextmanager
def _staging(directory: Path, *, needed: bool) -> Iterator[Path]:
    """A directory on the same disk as the skills. What a stopped pull left in it is of no use to anybody."""
    staging = directory / _STAGING
    files.remove(staging)
    if needed:
        staging.mkdir()
    try:
        yield staging
    finally:
        files.remove(staging)


@contextmanager
def _alone(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """One pull at a time in a directory; the system lets go of the lock when a process ends, however it ends."""
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
