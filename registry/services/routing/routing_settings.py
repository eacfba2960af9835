"""A project's settings for routing: the threshold, the limits of the gate, and the log of questions."""

from dataclasses import dataclass

from registry.lib.lru import LruCache
from registry.models import RoutingSettings

DEFAULT_THRESHOLD = 0.35


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one project. A change increments the revision, so they are cached by it."""

    fixed_threshold: float | None
    learned_threshold: float | None
    calibration: tuple[float, ...]
    blocking: bool
    log_share: float
    log_days: int

    def threshold_for(self, requested: float | None) -> tuple[float, str]:
        """Return the threshold to use and its origin: `request`, `project`, `learned` or `default`."""
        known = ((requested, "request"), (self.fixed_threshold, "project"), (self.learned_threshold, "learned"))
        for value, origin in known:
            if value is not None:
                return value, origin
        return DEFAULT_THRESHOLD, "default"


_cache: LruCache[tuple[int, int], Settings] = LruCache(1_000)


def of(project_id: int, revision: int) -> Settings:
    found = _cache.get((project_id, revision))
    if found is None:
        row = RoutingSettings.objects.filter(project_id=project_id).first() or RoutingSettings(project_id=project_id)
        found = Settings(
            row.fixed_threshold,
            row.learned_threshold,
            tuple(row.calibration),
            row.blocking,
            row.log_share,
            row.log_days,
        )
        _cache.put((project_id, revision), found)
    return found
