"""The index of each project, in the memory of this process.

An index follows the effective skills. When they change, only the difference is analysed: by `warm_up.py` in advance,
in the request that needs it, for about a second, and then in the background. Decision 20 explains the design.
"""

import logging
import threading
import time
from dataclasses import dataclass, field

from django.conf import settings
from django.db import connections

from registry.core.routing import analysis
from registry.core.routing.vectors import Encoder
from registry.lib import heap
from registry.lib.lru import MEBIBYTE, LruCache
from registry.services.catalog import catalog
from registry.services.catalog.catalog import View
from registry.services.routing import analysed_skills
from registry.services.routing import encoder as encoders
from registry.services.routing.index_build import JOINED, Analyse, Build, Built
from registry.services.routing.project_index import ProjectIndex as ProjectIndex

log = logging.getLogger(__name__)

_MOST_BYTES = 512 * MEBIBYTE  # of all indexes; the one used last is kept even if it is larger
_TURN_SECONDS = 1.0  # of the background thread, between two states that requests can use
_RETRY_SECONDS = 60.0  # until the background thread is started again for an index that it did not complete


@dataclass(eq=False)
class _State:
    """The index of a project, as far as it is built. Requests read `built` without a lock, so it is never changed."""

    encoder: Encoder | None
    version: str
    built: Built = field(default_factory=Built)
    current: ProjectIndex | None = None
    asked_for: View | None = None
    added: int = 0  # skills since memory was given back
    lock: threading.Lock = field(default_factory=threading.Lock)  # held by the thread that builds
    tried: View | None = None  # by the background thread, which tries a view again at `retry_at` if it failed
    retry_at: float = 0.0


class Indexes:
    """The indexes of all projects, and the thread that completes them."""

    def __init__(self, *, analyse: Analyse = analysed_skills.of) -> None:
        self._analyse = analyse
        self._states: LruCache[tuple[int, str], _State] = LruCache(_MOST_BYTES)
        self._creation = threading.Lock()
        self._background = _Background(self)

    def of(self, project_id: int, revision: int, *, complete: bool = False) -> ProjectIndex:
        """Return the index of a project at a revision. It can miss skills, unless `complete`: then it is waited for."""
        view = catalog.view(project_id, revision)
        state = self._state(project_id)
        if complete:
            return self._completed(project_id, state, view)
        state.asked_for = view
        found = state.current
        if found is None or found.view is not view or found.half_built:
            found = self._in_time(project_id, state, view)
        if found.missing:
            self._background.add(project_id, state, view)
        return found

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until the background thread has nothing to do. Return False if it takes longer."""
        return self._background.wait_until_idle(seconds)

    def _in_time(self, project_id: int, state: _State, view: View) -> ProjectIndex:
        """Build for as long as a request may wait, or wait for another thread that builds."""
        deadline = time.monotonic() + settings.ROUTING_WAIT_SECONDS
        if state.lock.acquire(timeout=settings.ROUTING_WAIT_SECONDS):
            try:
                return self._turn(project_id, state, view, deadline)
            except Exception:  # A question has an answer without it.
                log.exception("The routing index of project %s could not be updated.", project_id)
            finally:
                state.lock.release()
        return ProjectIndex.of_view(view, state.built, state.encoder)

    def _completed(self, project_id: int, state: _State, view: View) -> ProjectIndex:
        """Build in turns, so that requests see the progress, until nothing is missing or nothing more can be read."""
        found = self.after_a_turn(project_id, state, view, headers_first=False)
        while found.missing:
            before, found = found.gap, self.after_a_turn(project_id, state, view, headers_first=False)
            if found.gap == before:
                break
        return found

    def after_a_turn(self, project_id: int, state: _State, view: View, *, headers_first: bool = True) -> ProjectIndex:
        with state.lock:
            return self._turn(project_id, state, view, time.monotonic() + _TURN_SECONDS, headers_first=headers_first)

    def _turn(
        self, project_id: int, state: _State, view: View, deadline: float, *, headers_first: bool = True
    ) -> ProjectIndex:
        """Continue the build until a time, and use what is ready. The caller holds the lock."""
        found = state.current
        if found is not None and found.view is view and not found.missing:
            return found
        while True:
            before = found.gap if found is not None and found.view is view else None
            found = self._step(project_id, state, view, deadline, headers_first)
            if not found.missing or found.gap == before or time.monotonic() >= deadline:
                return found

    def _step(self, project_id: int, state: _State, view: View, deadline: float, headers_first: bool) -> ProjectIndex:
        build = Build(state.built, view, deadline=deadline)
        try:
            build.run(project_id, state.encoder, self._analyse, headers_first=headers_first)
        finally:
            state.built = build.result()
            state.added += build.added
            state.current = found = ProjectIndex.of_view(view, state.built, state.encoder)
            self._states.put((project_id, state.version), state, min(state.built.index.nbytes, _MOST_BYTES))
        if state.added >= JOINED and not found.missing:  # a large build leaves much free memory behind
            state.added = 0
            heap.release()
        return found

    def _state(self, project_id: int) -> _State:
        encoder = encoders.current()
        key = project_id, analysis.format_of(encoder)
        with self._creation:
            state = self._states.get(key)
            if state is None:
                state = _State(encoder, key[1])
                self._states.put(key, state)
            return state


class _Background:
    """One thread that completes indexes. It ends when there is nothing to do, and starts again."""

    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes
        self._changed = threading.Condition()
        self._todo: dict[int, tuple[_State, View]] = {}
        self._running = False

    def add(self, project_id: int, state: _State, view: View) -> None:
        now = time.monotonic()
        with self._changed:
            if state.tried is view and now < state.retry_at:
                return
            state.tried, state.retry_at = view, now + _RETRY_SECONDS
            self._todo[project_id] = state, view
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="routing-index", daemon=True).start()

    def wait_until_idle(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._todo:
                    self._running = False
                    self._changed.notify_all()
                    return
                project_id, (state, view) = self._todo.popitem()
            try:
                self._continue(project_id, state, view)
            except Exception:
                log.exception("The routing index of project %s could not be completed.", project_id)
            finally:
                connections.close_all()

    def _continue(self, project_id: int, state: _State, view: View) -> None:
        """Work for one turn. The next one is for the project that was asked for last, with its newest view."""
        if state.asked_for is not view:
            return  # a request went on with another view, and adds it if that takes long
        before = state.current.gap if state.current is not None and state.current.view is view else None
        found = self._indexes.after_a_turn(project_id, state, view)
        if found.missing and found.gap != before:
            with self._changed:
                state.retry_at = time.monotonic() + _RETRY_SECONDS
                self._todo.setdefault(project_id, (state, view))


shared = Indexes()
of = shared.of
wait_until_idle = shared.wait_until_idle
