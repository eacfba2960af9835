"""Waits for runs: a wait ends when the run has news, because it has ended or asks a person.

Nothing waits here. A wait is a place, of which there are a few, and a question that its holder asks now and then. Each
costs one query.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from registry.core.errors import InvalidRequest
from registry.core.workflows.records import RunState
from registry.lib.places import Places
from registry.models import Project, RunQuestion
from registry.models.workflows import OPEN
from registry.services.permissions import Actor
from registry.services.workflows import run_versions

MOST_SECONDS = 25  # below the time limits of common proxies and clients
LOOK_SECONDS = 0.5
PER_TOKEN = 8

_places = Places(128, PER_TOKEN)


@dataclass
class RunWait:
    """A wait for the news of a run. Close it, so that its place is free again.

    `seen` is the count of changes that its holder knows. A question that is not newer is no news.
    """

    project: Project
    run_id: int
    by: Actor
    token_id: int
    seen: int | None
    until: float
    clock: Callable[[], float] = time.monotonic
    _is_open: bool = True

    def is_over(self, *, grace: float = 0.0) -> bool:
        """Return whether its time is up, for at least `grace` seconds."""
        return self.clock() >= self.until + grace

    def has_news(self) -> bool:
        return has_news(self.project, self.run_id, seen=self.seen, by=self.by)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            _places.leave(self.token_id)


def has_news(project: Project, run_id: int, *, seen: int | None = None, by: Actor) -> bool:
    """Return whether a run has ended, or asks a person something that came after the change `seen`."""
    version = run_versions.current(project, run_id, by=by)
    if version.is_finished:
        return True
    if version.state != RunState.WAITING or (seen is not None and version.changes <= seen):
        return False
    # A run that was answered still waits until a worker takes it.
    return RunQuestion.objects.filter(run=run_id, state=OPEN).exists()


def wait(
    project: Project,
    run_id: int,
    *,
    seen: int | None = None,
    seconds: float = MOST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    token_id: int,
    by: Actor,
) -> RunWait | None:
    """Begin to wait for the news of a run. Return None if this token, or the site, waits for too many already."""
    require_seconds(seconds)
    if not _places.take(token_id):
        return None
    return RunWait(project, run_id, by, token_id, seen, clock() + seconds, clock)


def require_seconds(seconds: float) -> None:
    if not 0 <= seconds <= MOST_SECONDS:
        raise InvalidRequest(f"seconds is a number from 0 to {MOST_SECONDS}.", field="seconds")
