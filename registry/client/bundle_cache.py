"""A cache of whole skills, in the layout and with the records of the resolver (`registry/remote/cache.py`).

A copy is used only for the same origin, or if somebody placed it by hand, and only if its files match the digest. A
copy of another origin is never replaced: the skill is then stored under its digest.
"""

import logging
from pathlib import Path

from registry.core.bundle import Bundle
from registry.core.errors import SkillsiteError
from registry.core.limits import DEFAULT, Limits
from registry.remote.cache import Cache, CachedSkill

log = logging.getLogger(__name__)


class BundleCache:
    def __init__(self, root: Path, *, origin: str, limits: Limits = DEFAULT) -> None:
        # Not flushed to disk: a copy is checked against its digest before each use.
        self._cache = Cache(root, limits=limits, durable=False, lenient=True)
        self._origin = origin

    def get(self, name: str, version: str, digest: str) -> Bundle | None:
        found = self._load(name, version, digest)
        return found and found[1]

    def directory(self, name: str, version: str, digest: str) -> Path | None:
        """Return the directory of a copy, or None if there is no valid one."""
        found = self._load(name, version, digest)
        return found and found[0].directory

    def put(self, name: str, version: str, bundle: Bundle) -> Path:
        """Store a copy and return its directory."""
        copy = self._cache.keep(name, version, bundle, origin=self._origin)
        if copy.digest != bundle.digest or copy.origin not in ("", self._origin):
            copy = self._cache.keep_by_digest(name, version, bundle, origin=self._origin)
        return copy.directory

    def try_put(self, name: str, version: str, bundle: Bundle) -> None:
        """Store a copy, or log why it failed. The caller already has the bundle."""
        try:
            self.put(name, version, bundle)
        except (OSError, SkillsiteError) as error:
            log.warning("Could not cache %s %s in %s: %s", name, version, self._cache.root, error)

    def _load(self, name: str, version: str, digest: str) -> tuple[CachedSkill, Bundle] | None:
        try:
            return self._cache.load(name, version, digest=digest, origin=self._origin)
        except (OSError, SkillsiteError):
            return None
