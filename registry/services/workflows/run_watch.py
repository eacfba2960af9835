"""Wait until a run has news: it has ended, or it asks a person.

A wait costs a thread and, now and then, one query. It keeps no database connection in between. The number of waits in a
process is limited, so that waits never take the threads of other requests.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db import connection

from registry.core.errors import InvalidRequest
from registry.core.workflows.records import RunState
from registry.models import Project, Run, RunQuestion
from registry.models.workflows import OPEN
from registry.services.permissions import Actor
from registry.services.workflows import run_versions, runs
from registry.services.workflows.run_versions import RunVersion

MOST_SECONDS = 25  # below the time limits of common proxies and clients
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 1.0

_lock = threading.Lock()
_waiting = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """A run after a wait. `is_refused` is true if the site could not wait for it, because too many others wait."""

    run: Run
    has_news: bool
    is_refused: bool = False


def most_waiting() -> int:
    """Return how many threads of this process may wait for runs: a quarter of them."""
    return max(1, int(settings.WEB_THREADS) // 4)


def wait(
    project: Project,
    run_id: int,
    *,
    seen: int | None = None,
    seconds: float = MOST_SECONDS,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    by: Actor,
) -> Watched:
    """Return the run as soon as it has ended or asks a person, and otherwise after some seconds.

    `seen` is the count of changes that the caller knows. A question that is not newer is no news.
    """
    if not 0 <= seconds <= MOST_SECONDS:
        raise InvalidRequest(f"seconds is a number from 0 to {MOST_SECONDS}.", field="seconds")
    version, deadline, pause = run_versions.current(project, run_id, by=by), clock() + seconds, _FIRST_PAUSE
    with _place() as has_place:
        while not (news := _has_news(run_id, version, seen)) and has_place and (left := deadline - clock()) > 0:
            _release_connection()
            sleep(min(pause, left))
            pause = min(_LONGEST_PAUSE, pause * 1.5)
            version = run_versions.current(project, run_id, by=by)
    is_refused = not has_place and not news and seconds > 0
    return Watched(runs.find(project, run_id, by=by), news, is_refused)


def _has_news(run_id: int, version: RunVersion, seen: int | None) -> bool:
    if version.is_finished:
        return True
    if version.state != RunState.WAITING or (seen is not None and version.changes <= seen):
        return False
    # A run that was answered still waits until a worker takes it.
    return RunQuestion.objects.filter(run=run_id, state=OPEN).exists()


@contextmanager
def _place() -> Iterator[bool]:
    """Take a place for one wait, and yield whether there was one."""
    global _waiting
    with _lock:
        has_place = _waiting < most_waiting()
        _waiting += has_place
    try:
        yield has_place
    finally:
        with _lock:
            _waiting -= has_place


def _release_connection() -> None:
    """Close the connection of this thread. The next query opens it again."""
    if not connection.in_atomic_block:
        connection.close()
