"""The index of each project, in the memory of this process.

An index follows the effective skills. When they change, only the difference is analysed: in the request that needs it,
for about a second, and then in the background. Decision 20 explains the design.
"""

import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db import connections

from registry.core.catalog.precedence import Candidate
from registry.core.routing import analysis
from registry.core.routing.analysis import Analysed
from registry.core.routing.index import Index
from registry.core.routing.link import Rows
from registry.core.routing.vectors import Encoder
from registry.lib import heap
from registry.lib.lru import MEBIBYTE, LruCache
from registry.services.catalog import catalog
from registry.services.catalog.catalog import View
from registry.services.routing import analysed_skills
from registry.services.routing import encoder as encoders

log = logging.getLogger(__name__)

_MOST_BYTES = 512 * MEBIBYTE  # of all indexes; the one used last is kept even if it is larger
_REQUEST_SECONDS = 1.0  # that a request spends on the index, or waits for another one that does
_BACKGROUND_SECONDS = 5.0  # between two states that requests can use
_JOINED = 2_048  # skills that are added to an index at once
_MISSING_SHARE = 0.1
_RETRY_SECONDS = 60.0  # until the background thread is started again for an index that it did not complete
_BATCH = 256  # skills. A request analyses at least as many, so that a small project is never half indexed.


class ProjectIndex:
    """An index with the skills of one view. Only skills in `candidates` may be named.

    `missing` is the number of served skills that the index does not contain yet, in this version.
    """

    def __init__(
        self, view: View, index: Index, encoder: Encoder | None, candidates: Mapping[str, Candidate], missing: int = 0
    ) -> None:
        self.view, self.index, self.encoder = view, index, encoder
        self.candidates, self.missing = candidates, missing
        self._rows_by_kind: dict[str, Rows] = {}

    @classmethod
    def of_view(cls, view: View, index: Index, digests: Mapping[str, str], encoder: Encoder | None) -> "ProjectIndex":
        served = view.served
        candidates = {c.name: c for c in served if digests.get(c.name) == c.digest}
        return cls(view, index, encoder, candidates, len(served) - len(candidates))

    @property
    def half_built(self) -> bool:
        """True if so many skills are missing that an answer would mislead."""
        return self.missing > _MISSING_SHARE * (self.missing + len(self.candidates))

    @property
    def progress(self) -> str:
        """A sentence about an index that is not complete, or an empty text."""
        if not self.missing:
            return ""
        ready = len(self.candidates)
        return f"The index is being built: {ready:,} of {ready + self.missing:,} skills are in it."

    def changed(
        self, candidates: Sequence[Candidate], skills: Sequence[Analysed], gone: Sequence[str]
    ) -> "ProjectIndex":
        """Return the index as if some skills were added, replaced or removed."""
        kept = {name: candidate for name, candidate in self.candidates.items() if name not in gone}
        added = {candidate.name: candidate for candidate in candidates}
        return ProjectIndex(self.view, self.index.updated(skills, gone), self.encoder, {**kept, **added}, self.missing)

    def rows_for(self, allowed: frozenset[str] | None, kind: str = "") -> Rows:
        """Return the rows that a caller may see, in rising order."""
        if allowed is None:
            if kind not in self._rows_by_kind:
                self._rows_by_kind[kind] = self._rows(self.candidates, kind)
            return self._rows_by_kind[kind]
        return self._rows(self.candidates.keys() & allowed, kind)

    def _rows(self, names: Iterable[str], kind: str) -> Rows:
        row_of, candidates = self.index.row_of, self.candidates
        rows = [row_of[name] for name in names if not kind or candidates[name].kind == kind]
        return np.sort(np.array(rows, dtype=np.intp))


@dataclass(eq=False)
class _State:
    """The index of a project, as far as it is built, with the digest of each skill in it.

    The two are replaced together, because a request that does not hold the lock reads them.
    """

    encoder: Encoder | None
    version: str
    built: tuple[Index, dict[str, str]] = field(default_factory=lambda: (Index.of([]), {}))
    current: ProjectIndex | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)  # held by the thread that builds
    tried: View | None = None  # by the background thread, which tries a view again at `retry_at` if it failed
    retry_at: float = 0.0


_states: LruCache[tuple[int, str], _State] = LruCache(_MOST_BYTES)


def of(project_id: int, revision: int, *, complete: bool = False) -> ProjectIndex:
    """Return the index of a project at a revision. It can miss skills, unless `complete`: then it is waited for."""
    view = catalog.view(project_id, revision)
    state = _state(project_id)
    current = state.current
    if current is not None and current.view is view and not (complete and current.missing):
        if current.missing:
            _background.add(project_id, state, view)
        return current
    seconds = float("inf") if complete else _REQUEST_SECONDS
    if not state.lock.acquire(timeout=-1 if complete else seconds):
        return ProjectIndex.of_view(view, *state.built, state.encoder)
    try:
        found = _brought_up_to_date(project_id, state, view, seconds)
    finally:
        state.lock.release()
    if found.missing and not complete:
        _background.add(project_id, state, view)
    return found


def _state(project_id: int) -> _State:
    encoder = encoders.current()
    key = project_id, analysis.format_of(encoder)
    state = _states.get(key)
    if state is None:
        with _creation:
            state = _states.get(key)
            if state is None:
                state = _State(encoder, key[1])
                _states.put(key, state)
    return state


_creation = threading.Lock()


def _brought_up_to_date(project_id: int, state: _State, view: View, seconds: float) -> ProjectIndex:
    """Analyse new and changed skills for some time, and use what is ready. The caller holds the lock."""
    current = state.current
    if current is not None and current.view is view and not current.missing:
        return current
    index, digests = state.built
    served = {candidate.name: candidate for candidate in view.served}
    todo = [candidate for name, candidate in served.items() if digests.get(name) != candidate.digest]
    # A skill that is not ready in its new version is removed, because the words of the old one are no longer true.
    removed = {name for name, digest in digests.items() if name not in served or served[name].digest != digest}
    kept = {name: digest for name, digest in digests.items() if name not in removed}
    ready: dict[str, Analysed] = {}
    deadline = time.monotonic() + seconds
    for start in range(0, len(todo), _BATCH):
        if start and time.monotonic() >= deadline:
            break
        ready.update(analysed_skills.of(project_id, todo[start : start + _BATCH], state.encoder))
        if len(ready) >= _JOINED:  # with all skills at once, a first build would need much more memory
            index, kept = index.updated(ready.values(), removed), kept | _digests(served, ready)
            ready, removed = {}, set()
    if ready or removed:
        index, kept = index.updated(ready.values(), removed), kept | _digests(served, ready)
    state.built = index, kept
    if len(todo) >= _JOINED:
        ready.clear()
        heap.release()
    state.current = ProjectIndex.of_view(view, *state.built, state.encoder)
    _states.put((project_id, state.version), state, min(state.built[0].nbytes, _MOST_BYTES))
    return state.current


def _digests(served: Mapping[str, Candidate], names: Iterable[str]) -> dict[str, str]:
    return {name: served[name].digest for name in names}


class _Background:
    """One thread that completes indexes. It ends when there is nothing to do, and starts again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._todo: dict[int, tuple[_State, View]] = {}
        self._running = False

    def add(self, project_id: int, state: _State, view: View) -> None:
        now = time.monotonic()
        with self._lock:
            if state.tried is view and now < state.retry_at:
                return
            state.tried, state.retry_at = view, now + _RETRY_SECONDS
            self._todo[project_id] = state, view
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="routing-index", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._todo:
                    self._running = False
                    return
                project_id, (state, view) = self._todo.popitem()
            try:
                self._complete(project_id, state, view)
            except Exception:
                log.exception("The routing index of project %s could not be completed.", project_id)
            finally:
                connections.close_all()

    def _complete(self, project_id: int, state: _State, view: View) -> None:
        """Work in turns, so that requests see the progress."""
        missing = 0
        while True:
            with state.lock:
                if state.current is None or state.current.view is not view:
                    return  # a request went on with a newer view, and adds it if that takes long
                found = _brought_up_to_date(project_id, state, view, _BACKGROUND_SECONDS)
            if not found.missing or found.missing == missing:
                return
            missing = found.missing
            state.retry_at = time.monotonic() + _RETRY_SECONDS


_background = _Background()
