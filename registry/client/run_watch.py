"""Follow a run: ask for it again with growing pauses, also after the connection was lost or the site was restarted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile

from registry.client import run_values
from registry.client.cached_reader import JSON_BYTES, parse_json
from registry.client.errors import ClientError, RateLimited, Unreachable
from registry.client.http import HttpClient
from registry.client.run_values import Run, RunStep

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.3, 5.0, 1.5
_PAGE = 200
LOST_AFTER = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class RunUpdate:
    """A run after something happened. `steps` are those that changed, and `run.steps` one page of them."""

    run: Run
    steps: tuple[RunStep, ...]


class RunWatch:
    """Iterates over the changes of a run, until it is finished or the time is up.

    The first update has every step so far. `on_lost` is called when the site does not answer. After LOST_AFTER without
    an answer, the error is raised.
    """

    def __init__(
        self,
        http: HttpClient,
        address: str,
        *,
        seconds: float | None = None,
        on_lost: Callable[[ClientError], object] = lambda error: None,
    ) -> None:
        self._http, self._address, self._on_lost = http, address, on_lost
        self._now = http.retrying.now
        self._end = self._now() + timedelta(seconds=seconds) if seconds is not None else None
        self._known: dict[str, tuple[str, int]] = {}  # state and attempts by path
        self._finished = 0  # the number of steps at the start of the list that will not change any more
        self._changes = -1
        self._etags: dict[str, str] = {}  # of the last answer, by its address

    def __iter__(self) -> Iterator[RunUpdate]:
        pause = _FIRST_PAUSE
        while True:
            update = self._patiently()
            if update is not None:
                yield update
                pause = _FIRST_PAUSE
                if update.run.is_finished:
                    return
            left = (self._end - self._now()).total_seconds() if self._end else _LONGEST_PAUSE
            if left <= 0:
                return
            self._http.retrying.sleep(min(pause, left))
            pause = min(_LONGEST_PAUSE, pause * _GROWTH)

    def _patiently(self) -> RunUpdate | None:
        """Return the next update, None if nothing changed. Ask again while the site does not answer."""
        lost_at = None
        while True:
            try:
                return self._read()
            except (Unreachable, RateLimited) as error:
                now = self._now()
                if lost_at is None:
                    lost_at = now
                    self._on_lost(error)
                if now - lost_at >= LOST_AFTER or (self._end is not None and now >= self._end):
                    raise
                self._http.retrying.sleep(_LONGEST_PAUSE)

    def _read(self) -> RunUpdate | None:
        run = self._page(self._finished)
        if run is None or run.changes == self._changes:
            return None
        steps = list(run.steps)
        offset = self._finished + len(steps)
        while offset < run.total_steps and (more := self._page(offset)) and more.steps:
            steps += more.steps
            offset += len(more.steps)
        changed = [step for step in steps if self._known.get(step.path) != (step.state, step.attempts)]
        self._known.update((step.path, (step.state, step.attempts)) for step in changed)
        self._finished += sum(1 for _ in takewhile(lambda step: step.is_finished, steps))
        self._changes = run.changes
        return RunUpdate(run, tuple(changed))

    def _page(self, offset: int) -> Run | None:
        """Return the run with a page of its steps, or None if the site says that it has not changed."""
        address = f"{self._address}?limit={_PAGE}&offset={offset}"
        etag = self._etags.get(address, "")
        response = self._http.get(address, accept="application/json", limit=JSON_BYTES, etag=etag)
        if response.status == 304:
            return None
        self._etags = {address: response.etag}
        return run_values.run(parse_json(response.body))
