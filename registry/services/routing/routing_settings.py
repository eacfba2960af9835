"""A project's settings for routing: the threshold, the limits of the gate, and the log of questions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.routing import confidence, gate
from registry.core.routing.confidence import Learned
from registry.core.routing.golden import CASES
from registry.lib.lru import LruCache
from registry.models import Project, RoutingSettings
from registry.services import audit
from registry.services.permissions import Actor, require

DEFAULT_THRESHOLD = 0.35
MOST_LOG_DAYS = 365

ORIGINS = REQUEST, PROJECT, LEARNED, DEFAULT = "request", "project", "learned", "default"  # of a threshold

_SHARES = ("least_p_at_1", "least_mrr", "most_false_triggers", "log_share")
_NUMBERS = {"least_cases": (1, CASES), "log_days": (0, MOST_LOG_DAYS)}
CHANGEABLE = ("fixed_threshold", *_SHARES, *_NUMBERS, "blocking")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one project. A change increments the revision, so they are cached by it."""

    fixed_threshold: float | None
    learned_threshold: float | None
    calibration: tuple[float, ...]
    limits: gate.Limits
    blocking: bool
    log_share: float
    log_days: int

    def threshold_for(self, requested: float | None) -> tuple[float, str]:
        """Return the threshold to use and its origin, one of ORIGINS."""
        known = ((requested, REQUEST), (self.fixed_threshold, PROJECT), (self.learned_threshold, LEARNED))
        for value, origin in known:
            if value is not None:
                return value, origin
        return DEFAULT_THRESHOLD, DEFAULT


_cache: LruCache[tuple[int, int], Settings] = LruCache(1_000)


def of(project_id: int, revision: int) -> Settings:
    found = _cache.get((project_id, revision))
    if found is None:
        found = _settings(row_of(project_id))
        _cache.put((project_id, revision), found)
    return found


def row_of(project_id: int) -> RoutingSettings:
    """Return the row of a project, or a new one with the defaults, which is not saved."""
    return RoutingSettings.objects.filter(project_id=project_id).first() or RoutingSettings(project_id=project_id)


def _settings(row: RoutingSettings) -> Settings:
    # A threshold is only true for the calibration it was learned with. An earlier version had other signals.
    known = len(row.calibration) == len(confidence.DEFAULT)
    return Settings(
        row.fixed_threshold,
        row.learned_threshold if known else None,
        tuple(row.calibration) if known else (),
        gate.Limits(row.least_p_at_1, row.least_mrr, row.most_false_triggers, row.least_cases),
        row.blocking,
        row.log_share,
        row.log_days,
    )


def change(project: Project, *, by: Actor, **values: Any) -> Settings:
    """Change the named settings, and leave the others. `fixed_threshold=None` returns to the learned threshold."""
    require(by, roles.MANAGE, project)
    checked = check(values)
    with audit.change(project, "routing.changed", by=by, target=project.slug) as change:
        row = row_of(project.pk)
        changed = {name: value for name, value in checked.items() if getattr(row, name) != value}
        for name, value in changed.items():
            setattr(row, name, value)
        change.data.update(changed)
        if changed:
            row.save()
        else:
            change.cancel()
    return _settings(row)


def check(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid settings, or raise InvalidRequest with the name of the first wrong one."""
    return {name: _checked(name, value) for name, value in values.items()}


def store_learned(project_id: int, learned: Learned) -> None:
    """Store the result of an evaluation, as a part of its change."""
    row = row_of(project_id)
    row.learned_threshold, row.calibration = learned.threshold, list(learned.calibration)
    row.save()


def _checked(name: str, value: Any) -> Any:
    """Return a valid value, or raise InvalidRequest with the name of the field."""
    if name not in CHANGEABLE:
        raise InvalidRequest(f"There is no setting {name[:40]!r}. There are: {', '.join(CHANGEABLE)}.", field=name)
    if name == "blocking":
        if not isinstance(value, bool):
            raise InvalidRequest("blocking is true or false. Nothing was saved.", field=name)
        return value
    if name == "fixed_threshold" and value is None:
        return None
    if name in _NUMBERS:
        least, most = _NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidRequest(
                f"{name} is a whole number from {least} to {most:,}; not {str(value)[:40]}. Nothing was saved.",
                field=name,
            )
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidRequest(f"{name} is a number from 0 to 1; not {str(value)[:40]}. Nothing was saved.", field=name)
    return float(value)
