"""Disk space of the cache of a project, in sum and for each token."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from registry.remote import cache_cleanup
from registry.remote.budget import Exceeded

# The copies are counted again after this time. Until then, what other processes store is not noticed.
_SECONDS = 30.0


@dataclass
class _Usage:
    counted: float
    total: int = 0
    owned: dict[str, int] = field(default_factory=dict)


_lock = threading.Lock()
_usage: dict[Path, _Usage] = {}


@dataclass(frozen=True, slots=True)
class Quota:
    """Bytes that may be stored below `root`: `most` in sum, and `each` by the token `by`."""

    root: Path
    by: str
    most: int
    each: int

    def check(self) -> None:
        """Raise Exceeded if nothing more can be stored. Call this before a download."""
        self.take(0)

    def take(self, size: int) -> None:
        """Count a copy that is about to be stored. Raise Exceeded if it does not fit."""
        with _lock:
            usage = self._current()
            owned = usage.owned.get(self.by, 0)
            _fit(usage.total, size, self.most, "This project", "RESOLVE_PROJECT_BYTES")
            _fit(owned, size, self.each, "This token", "RESOLVE_TOKEN_BYTES")
            usage.total += size
            usage.owned[self.by] = owned + size

    def _current(self) -> _Usage:
        usage = _usage.get(self.root)
        now = time.monotonic()
        if usage is None or now - usage.counted > _SECONDS:
            usage = _usage[self.root] = _Usage(now)
            for copy in cache_cleanup.stored_copies(self.root):
                usage.total += copy.size
                usage.owned[copy.by] = usage.owned.get(copy.by, 0) + copy.size
        return usage


def forget(root: Path) -> None:
    """Count the copies again at the next use, for example after some were removed."""
    with _lock:
        _usage.pop(root, None)


def _fit(used: int, size: int, most: int, owner: str, setting: str) -> None:
    if used + size > most or used >= most:
        raise Exceeded(
            f"{owner} has {used:,} bytes of resolved skills in the cache. With this skill it would have more than the "
            f"allowed {most:,}. Skills that nobody uses are removed after some time. The operator can remove them now "
            f"with clean_cache, or raise {setting}."
        )
