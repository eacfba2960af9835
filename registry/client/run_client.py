"""The methods of the client for runs of workflows and for capabilities."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from registry.client import run_values
from registry.client.cached_reader import JSON_BYTES, CachedReader, parse_json, query
from registry.client.errors import ClientError, Misconfigured, NotCached, Unanswered
from registry.client.http import HttpClient
from registry.client.json_fields import get
from registry.client.run_values import WAITING, Capability, Run, RunPage, RunSummary
from registry.client.run_watch import RunUpdate, RunWatch

_MOST_STEPS = 20_000  # of a run that is read whole
_LARGEST_PAGE = 1_000
_LOOK_FIRST = "Look at the list of runs before you start it again."


class RunMethods:
    """Start, watch and cancel runs. Nothing of them is cached, because they change all the time."""

    project: str
    _http: HttpClient
    _base: str
    _reader: CachedReader

    def start_run(
        self,
        skill: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
        frame: Mapping[str, Any] | None = None,
        max_workers: int | None = None,
        fail_fast: bool = True,
        deadline_seconds: float | None = None,
    ) -> RunSummary:
        """Start the workflow of a skill.

        The request is not repeated if no answer arrives, because the run may have been started. Then `Unanswered` is
        raised.
        """
        options = {
            "max_workers": max_workers,
            "deadline_seconds": deadline_seconds,
            "fail_fast": None if fail_fast else False,
        }
        body = {
            "skill": skill,
            "inputs": dict(inputs or {}),
            "version": version,
            "frame": dict(frame) if frame is not None else None,
            "options": {name: value for name, value in options.items() if value is not None} or None,
        }
        try:
            return run_values.summary(self._post("runs", body, once=True))
        except Unanswered as error:
            raise Unanswered(f"{error.message} {_LOOK_FIRST}") from error

    def get_run(self, number: int | str) -> Run:
        """Return a run with its steps, at most 20,000, and its outputs, however large they are."""
        address, offset = self._run(number), 0
        found: Run | None = None
        while True:
            page = run_values.run(self._get(f"{address}?limit={_LARGEST_PAGE}&offset={offset}"))
            found = page if found is None else replace(page, steps=(*found.steps, *page.steps))
            offset += len(page.steps)
            if not page.steps or offset >= min(page.total_steps, _MOST_STEPS):
                break
        if "outputs" not in found.data.get("omitted", ()):
            return found
        return replace(found, outputs=get(self._get(f"{address}/values"), "outputs", dict))

    def list_runs(
        self, *, state: str = "", skill: str = "", by: str = "", mine: bool = False, limit: int = 20, offset: int = 0
    ) -> RunPage:
        """Return runs, newest first. An agent sees its own."""
        place = {"limit": str(limit), "offset": str(offset) if offset else ""}
        filters = query(state=state, skill=skill, by=by, mine="1" if mine else "", **place)
        return run_values.page(self._get(f"{self._base}/runs{filters}"))

    def cancel_run(self, number: int | str) -> RunSummary:
        """Ask the site to cancel a run. A call that is on its way may still have an effect."""
        return run_values.summary(self._post(f"runs/{_number(number)}/cancel", {}))

    def watch_run(
        self,
        number: int | str,
        *,
        seconds: float | None = None,
        on_lost: Callable[[ClientError], object] = lambda error: None,
    ) -> Iterator[RunUpdate]:
        """Yield the changes of a run until it is finished, or until the time is up. See `RunWatch`."""
        self._require_online()
        return iter(RunWatch(self._http, self._run(number), seconds=seconds, on_lost=on_lost))

    def wait_for_run(self, number: int | str, *, seconds: float | None = None, for_people: bool = False) -> Run:
        """Return a run when it is finished, when it asks a person, or when the time is up.

        With `for_people`, a run that asks a person is waited for too.
        """
        for update in self.watch_run(number, seconds=seconds):
            if not for_people and update.run.state == WAITING and update.run.questions:
                break
        return self.get_run(number)

    def capabilities(self) -> tuple[Capability, ...]:
        """Return the capabilities that workflows of the project can use."""
        found: list[Capability] = []
        while True:
            page = self._get(f"{self._base}/capabilities?limit={_LARGEST_PAGE}&offset={len(found)}")
            results = get(page, "results", list)
            found += [run_values.capability(each) for each in results]
            if not results or page.get("next") is None:
                return tuple(found)

    def start_call(self, capability: str, inputs: Mapping[str, Any] | None = None) -> int:
        """Start a run that calls one capability, and return its id. Like `start_run`, it is never sent twice."""
        if not capability or capability in (".", ".."):
            raise Misconfigured(f"{capability!r} is not the id of a capability.")
        body = {"inputs": dict(inputs or {}), "wait_seconds": 0}
        address = f"capabilities/{quote(capability, safe='')}/call"
        try:
            return get(self._post(address, body, once=True), "run", int)
        except Unanswered as error:
            raise Unanswered(f"{error.message} {_LOOK_FIRST}") from error

    def call_capability(
        self, capability: str, inputs: Mapping[str, Any] | None = None, *, seconds: float | None = 60.0
    ) -> Run:
        """Call one capability. Return its run when it is finished, asks a person, or the time is up."""
        return self.wait_for_run(self.start_call(capability, inputs), seconds=seconds)

    def run_page(self, number: int | str) -> str:
        """Return the address of the page of a run, for people."""
        return f"{self._http.base_url}/projects/{self.project}/runs/{_number(number)}/"

    def _run(self, number: int | str) -> str:
        return f"{self._base}/runs/{_number(number)}"

    def _get(self, address: str) -> Any:
        self._require_online()
        return parse_json(self._http.get(address, accept="application/json", limit=JSON_BYTES).body)

    def _post(self, path: str, body: Mapping[str, Any], *, once: bool = False) -> Any:
        self._require_online()
        payload = {key: value for key, value in body.items() if value is not None}
        return parse_json(self._http.post(f"{self._base}/{path}", payload, limit=JSON_BYTES, once=once).body)

    def _require_online(self) -> None:
        if self._reader.offline:
            raise NotCached("The client is offline, and runs exist only on the site.")


def _number(number: int | str) -> str:
    text = str(number)
    if not (text.isascii() and text.isdecimal()):
        raise Misconfigured(f"{text[:40]!r} is not the id of a run. It is a number, such as 12.")
    return quote(text, safe="")
