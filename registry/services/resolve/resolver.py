"""Skills that a platform names with its requests: resolved into the project's own part of the volume, and read there.

Nothing of the project changes by it: there is no event and no new revision, and no page lists these skills.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import NotFound, RateLimited
from registry.core.resolve import definitions
from registry.core.resolve.definitions import Definition, Entry, Malformed
from registry.models import Project
from registry.remote import cache_cleanup, s3, semaphore
from registry.remote import resolver as remote_resolver
from registry.remote.cache import Cache, Copy
from registry.remote.cache_cleanup import Removed
from registry.remote.resolver import Bounds, Resolved
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require, require_operator
from registry.services.resolve import outbound_http

BOUNDS = Bounds()
BY_HAND = "placed by hand"

_TURNS = ".turns"
_AT_ONCE = 2
_COME_BACK_SECONDS = 5
# Twice what a request may take, so that clocks of two machines may differ a little.
_TURN_SECONDS = 2 * BOUNDS.all


def root(slug: str) -> Path:
    """The project's part of the volume: no project reads or spoils the copies of another."""
    return Path(settings.PERSISTENT_VOLUME_STORAGE) / "projects" / slug


def cached_projects() -> list[str]:
    """The projects that have a part of the volume, also those that are gone by now."""
    everyone = root("").resolve()
    return sorted(path.name for path in everyone.iterdir() if path.is_dir()) if everyone.is_dir() else []


def storage() -> s3.Storage:
    """The S3 of the site. Its own bucket holds the files of every project, and is never a place to load skills from."""
    return s3.Storage(
        endpoint_url=settings.S3_ENDPOINT_URL,
        closed=frozenset([settings.S3_BUCKET] if settings.S3_BUCKET else []),
        only=frozenset(settings.SKILLS_S3_BUCKETS),
    )


def resolve(
    project: Project, given: object, *, allowed: frozenset[str] | None = None, bounds: Bounds = BOUNDS, by: Actor
) -> list[Resolved]:
    """Each definition that is active, in order. `allowed` are the only names there are for the caller.

    A list of skills an agent may see holds here as well, although the agent names these itself: it could otherwise read
    what others of the project resolved, and load under any name what its owner did not mean it to have.
    """
    require(by, roles.READ, project)
    entries = tuple(_permitted(entry, allowed) for entry in definitions.parse(given))
    results = remote_resolver.resolve(
        entries,
        root=root(project.slug),
        allowed=outbound_http.allowed_hosts(),
        storage=storage(),
        limits=settings.LIMITS,
        bounds=bounds,
    )
    return [replace(one, origin=one.origin or BY_HAND) if one.status != "skipped" else one for one in results]


def _permitted(entry: Entry, allowed: frozenset[str] | None) -> Entry:
    if isinstance(entry, Definition) and allowed is not None and normalise(entry.name) not in allowed:
        return Malformed(entry.name, entry.version, "It is not one of the skills that this agent may see.")
    return entry


@contextmanager
def turn(project: Project, token_id: int) -> Iterator[None]:
    """At most two requests of one token are resolved at a time, by all web processes together."""
    try:
        with semaphore.turn(root(project.slug) / _TURNS, str(token_id), most=_AT_ONCE, seconds=_TURN_SECONDS):
            yield
    except semaphore.Busy:
        raise RateLimited(
            f"{_AT_ONCE} requests of this token are being resolved already, which is what is allowed at a time. "
            f"Come back in {_COME_BACK_SECONDS} seconds.",
            retry_after=_COME_BACK_SECONDS,
        ) from None


@dataclass(frozen=True, slots=True)
class File:
    copy: Copy
    path: str
    content: bytes


def read(
    slug: str, name: str, version: str, path: str, *, digest: str = "", allowed: frozenset[str] | None = None
) -> File:
    """One file of a copy. The name is taken as it was resolved, else in its normal spelling."""
    catalog.permit(name, allowed)
    cache = Cache(root(slug), limits=settings.LIMITS)
    try:
        copy, content = cache.read(name, version, path, digest=digest)
    except NotFound:
        if normalise(name) == name:
            raise
        copy, content = cache.read(normalise(name), version, path, digest=digest)
    return File(copy, path, content)


def clean(slug: str, *, older_than: float | None = None, keep: int | None = None, by: Actor) -> list[Removed]:
    """Removes leftovers, and versions that nobody used for so many seconds or that are too many of one name."""
    require_operator(by)
    return cache_cleanup.clean(root(slug), older_than=older_than, keep=keep)


__all__ = [
    "BOUNDS", "BY_HAND", "File", "Resolved", "cached_projects", "clean", "read", "resolve", "root", "storage", "turn",
]  # fmt: skip
