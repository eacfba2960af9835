"""Resolve skills that a platform sends with its requests, into the project's directory of the shared volume.

This does not change the project: there is no audit event and no new revision, and no page lists these skills.
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
from registry.remote.cache import Cache, CachedSkill
from registry.remote.cache_cleanup import Removed
from registry.remote.resolver import Bounds, Resolved
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require, require_operator
from registry.services.resolve import outbound_http

BOUNDS = Bounds()
BY_HAND = "placed by hand"

_SLOTS = ".turns"
_AT_ONCE = 2
_COME_BACK_SECONDS = 5
# Twice the limit of a request, because the clocks of two machines may differ.
_SLOT_SECONDS = 2 * BOUNDS.all


def root(slug: str) -> Path:
    """Return the project's directory of the volume. Projects do not share cached skills."""
    return Path(settings.PERSISTENT_VOLUME_STORAGE) / "projects" / slug


def cached_projects() -> list[str]:
    """Return the projects with a directory on the volume, including deleted ones."""
    everyone = root("").resolve()
    return sorted(path.name for path in everyone.iterdir() if path.is_dir()) if everyone.is_dir() else []


def storage() -> s3.Storage:
    """Return the S3 settings. The site's own bucket has the files of all projects and is never a source of skills."""
    return s3.Storage(
        endpoint_url=settings.S3_ENDPOINT_URL,
        closed=frozenset([settings.S3_BUCKET] if settings.S3_BUCKET else []),
        only=frozenset(settings.SKILLS_S3_BUCKETS),
    )


def resolve(
    project: Project, payload: object, *, allowed: frozenset[str] | None = None, bounds: Bounds = BOUNDS, by: Actor
) -> list[Resolved]:
    """Return a result for each active definition, in order. Other names than `allowed` are skipped.

    The skill list of an agent applies here too. Otherwise the agent could read what others in the project resolved, and
    load any content under a name that its owner did not choose.
    """
    require(by, roles.READ, project)
    entries = tuple(_permitted(entry, allowed) for entry in definitions.parse(payload))
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
        return Malformed(entry.name, entry.version, "This skill is not on the list of this agent.")
    return entry


@contextmanager
def slot(project: Project, token_id: int) -> Iterator[None]:
    """Allow at most two parallel requests per token, across all web processes."""
    try:
        with semaphore.slot(root(project.slug) / _SLOTS, str(token_id), most=_AT_ONCE, seconds=_SLOT_SECONDS):
            yield
    except semaphore.NoFreeSlot:
        raise RateLimited(
            f"This token already has {_AT_ONCE} requests in progress. {_AT_ONCE} are allowed. "
            f"Try again in {_COME_BACK_SECONDS} seconds.",
            retry_after=_COME_BACK_SECONDS,
        ) from None


@dataclass(frozen=True, slots=True)
class File:
    copy: CachedSkill
    path: str
    content: bytes


def read(
    slug: str, name: str, version: str, path: str, *, digest: str = "", allowed: frozenset[str] | None = None
) -> File:
    """Return one file of a resolved skill. The name is tried as given, then normalised."""
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
    """Remove leftovers, and versions that are unused or too many. See `cache_cleanup.clean`."""
    require_operator(by)
    return cache_cleanup.clean(root(slug), older_than=older_than, keep=keep)


__all__ = [
    "BOUNDS",
    "BY_HAND",
    "File",
    "Resolved",
    "cached_projects",
    "clean",
    "read",
    "resolve",
    "root",
    "slot",
    "storage",
]  # fmt: skip
