"""Resolve skills that a platform sends with its requests, into the project's directory of the shared volume.

This does not change the project: there is no audit event and no new revision, and no page lists these skills.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import NotFound
from registry.core.limits import MIB
from registry.core.resolve import definitions
from registry.core.resolve.definitions import Definition, Entry, Malformed
from registry.models import Project
from registry.remote import cache_cleanup, quota, s3
from registry.remote import resolver as remote_resolver
from registry.remote.cache import Cache, CachedSkill
from registry.remote.cache_cleanup import Removed
from registry.remote.quota import Quota
from registry.remote.reach import Bounds
from registry.remote.resolver import Resolved
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require, require_operator
from registry.services.resolve import outbound_http
from registry.services.resolve.gate import SiteGate

# No request may take more than two seconds of CPU time, and reading a large one takes some of it.
BOUNDS = Bounds(bytes=settings.RESOLVE_REQUEST_BYTES, checks=1.5)
BODY_BYTES = 8 * MIB
BY_HAND = "placed by hand"

_SLOTS = ".turns"
_INSTALL_S3 = "The operator installs it with: .venv/bin/pip install --requirement requirements/deploy.txt"
# The sweep leaves copies that were used within this time.
_IN_USE_SECONDS = 6 * 3_600.0
_TRIM_TO = 0.8


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
        install=_INSTALL_S3,
    )


def resolve(
    project: Project,
    payload: object,
    *,
    allowed: frozenset[str] | None = None,
    token_id: int | None = None,
    bounds: Bounds = BOUNDS,
    by: Actor,
) -> list[Resolved]:
    """Return a result for each active definition, in order. Other names than `allowed` are skipped.

    The skill list of an agent applies here too. Otherwise the agent could read what others in the project resolved, and
    load any content under a name that its owner did not choose. Downloads of a token are limited in number, and its
    copies count against its quota. Raise Busy or RateLimited if a download is needed and none may start now.
    """
    require(by, roles.READ, project)
    entries = tuple(_permitted(entry, allowed) for entry in definitions.parse(payload, most=bounds.most))
    place = root(project.slug)
    results = remote_resolver.resolve(
        entries,
        root=place,
        allowed=outbound_http.allowed_hosts(),
        storage=storage(),
        limits=settings.LIMITS,
        bounds=bounds,
        gate=SiteGate(place / _SLOTS, token_id) if token_id is not None else None,
        quota=_quota(place, token_id) if token_id is not None else None,
        by="" if token_id is None else str(token_id),
    )
    return [replace(one, origin=one.origin or BY_HAND) if one.status != "skipped" else one for one in results]


def _permitted(entry: Entry, allowed: frozenset[str] | None) -> Entry:
    if isinstance(entry, Definition) and allowed is not None and normalise(entry.name) not in allowed:
        return Malformed(entry.name, entry.version, "This skill is not on the list of this agent.")
    return entry


def _quota(place: Path, token_id: int) -> Quota:
    return Quota(place, str(token_id), most=settings.RESOLVE_PROJECT_BYTES, each=settings.RESOLVE_TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class File:
    copy: CachedSkill
    path: str
    content: bytes


def read(slug: str, name: str, version: str, path: str, *, digest: str, allowed: frozenset[str] | None = None) -> File:
    """Return one file of the resolved skill with this digest. The name is tried as given, then normalised."""
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
    removed = cache_cleanup.clean(root(slug), older_than=older_than, keep=keep)
    quota.forget(root(slug))
    return removed


def sweep() -> int:
    """Remove copies that nobody uses, or that leave too little room in a quota. Return how many.

    Room is made before a quota is used up, so that new skills can be stored without an operator.
    """
    count = 0
    for slug in cached_projects():
        place = root(slug)
        unused = cache_cleanup.clean(place, older_than=settings.RESOLVE_UNUSED_DAYS * 86_400.0, grace=_IN_USE_SECONDS)
        beyond = cache_cleanup.trim(
            place,
            most=int(settings.RESOLVE_PROJECT_BYTES * _TRIM_TO),
            each=int(settings.RESOLVE_TOKEN_BYTES * _TRIM_TO),
            grace=_IN_USE_SECONDS,
        )
        quota.forget(place)
        count += len(unused) + len(beyond)
    return count


__all__ = [
    "BODY_BYTES",
    "BOUNDS",
    "BY_HAND",
    "File",
    "Resolved",
    "cached_projects",
    "clean",
    "read",
    "resolve",
    "root",
    "storage",
    "sweep",
]  # fmt: skip
