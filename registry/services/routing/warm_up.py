"""Keeps the routing indexes of a web process up to date in advance, so that a question finds them complete.

A thread looks every few seconds for projects that changed, in whatever process, and for changed built-in skills. It
works for the projects that were asked or changed last, within ROUTING_WARM_SKILLS, one after the other.
"""

import logging
import threading
import time

from django.conf import settings
from django.db import connections
from django.db.models import F, Max

from registry.models import Project
from registry.services.catalog import built_in
from registry.services.routing import indexes
from registry.services.routing.indexes import Indexes

log = logging.getLogger(__name__)

_MOST_PROJECTS = 16  # half of the views that the catalog keeps
_LEAST_PAUSE, _LONGEST_PAUSE = 2.0, 10.0  # seconds; between them, a pause is as long as the work before it
_RETRY_SECONDS = 60.0  # after an error
_BUILD_SECONDS = 600.0  # until the next project gets its turn


class WarmUp:
    """The projects of a site, in the order in which they were used, and what was done for each."""

    def __init__(self, into: Indexes = indexes.shared) -> None:
        self._indexes = into
        self._revisions: dict[int, int] = {}  # the project that was used last comes first
        self._done: dict[int, tuple[str, int]] = {}  # fingerprint of the built-in skills, and revision
        self._skills: dict[int, int] = {}

    def run_once(self) -> list[int]:
        """Bring the indexes up to date, and return the projects that had changed."""
        fingerprint, changed, skills = built_in.snapshot().fingerprint, [], 0
        self._revisions = self._current_revisions()
        for project_id, revision in list(self._revisions.items())[:_MOST_PROJECTS]:
            if skills >= settings.ROUTING_WARM_SKILLS:
                break
            if self._done.get(project_id) != (fingerprint, revision):
                self._done[project_id] = fingerprint, revision
                self._skills[project_id] = self._index(project_id, revision)
                changed.append(project_id)
            skills += self._skills[project_id]
        return changed

    def _index(self, project_id: int, revision: int) -> int:
        """Bring one index up to date, and return the number of its skills. Requests report what goes wrong here."""
        try:
            found = self._indexes.of(project_id, revision)
            if found.missing:
                self._indexes.wait_until_idle(_BUILD_SECONDS)
        except Exception:
            log.exception("The routing index of project %s could not be prepared.", project_id)
            return 0
        return len(found.candidates) + found.absent

    def _current_revisions(self) -> dict[int, int]:
        """Return the revisions of all projects: first those that changed, or at the start those asked last."""
        projects = Project.objects.filter(archived_at=None)
        if not self._revisions:
            asked = projects.annotate(asked=Max("route_log__at")).order_by(F("asked").desc(nulls_last=True), "pk")
            return dict(asked.values_list("pk", "revision"))
        current = dict(projects.values_list("pk", "revision"))
        used = [project_id for project_id, revision in current.items() if self._revisions.get(project_id) != revision]
        order = dict.fromkeys((*used, *self._revisions))
        return {project_id: current[project_id] for project_id in order if project_id in current}


def start() -> None:
    """Start the thread, unless ROUTING_WARM_SKILLS is 0."""
    if settings.ROUTING_WARM_SKILLS:
        threading.Thread(target=_run_forever, name="routing-warm-up", daemon=True).start()


def _run_forever() -> None:
    warm_up, pause = WarmUp(), threading.Event()
    while True:
        began = time.monotonic()
        try:
            warm_up.run_once()
            seconds = min(max(time.monotonic() - began, _LEAST_PAUSE), _LONGEST_PAUSE)
        except Exception:
            log.exception("The routing indexes could not be prepared. The next try is in a minute.")
            seconds = _RETRY_SECONDS
        finally:
            connections.close_all()
        pause.wait(seconds)
