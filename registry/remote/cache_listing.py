"""List of the skills in a cache."""

import logging
from collections.abc import Iterator
from pathlib import Path

from registry.core import paths
from registry.core.errors import SkillsiteError
from registry.remote.cache import DIGESTS, SKILLS, Cache, CachedSkill

log = logging.getLogger(__name__)


def cached_skills(cache: Cache) -> Iterator[CachedSkill]:
    """Yield every valid skill, sorted by name and version. Texts that were stored by digest have no version."""
    for parent in _directories(cache.root / SKILLS):
        for version in _directories(parent):
            yield from _found(cache, parent.name, version.name)
    by_digest = [
        (name.name, parent.name) for parent in _directories(cache.root / DIGESTS) for name in _directories(parent)
    ]
    for name, digest in sorted(by_digest):
        yield from _found(cache, name, "", f"sha256:{digest}")


def _found(cache: Cache, name: str, version: str, digest: str = "") -> Iterator[CachedSkill]:
    try:
        copy = cache.find_by_digest(name, version, digest) if digest else cache.find(name, version)
    except (OSError, SkillsiteError) as error:
        log.warning("The cached skill %s %s cannot be used: %s", paths.display(name), paths.display(version), error)
        return
    if copy is not None:
        yield copy


def _directories(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
