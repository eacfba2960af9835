"""Downloads in progress in this process, so that equal ones run only once."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Flight:
    """A download of `url`. Others wait for `done` and look at its result; `failure` is empty if it succeeded."""

    url: str
    done: threading.Event = field(default_factory=threading.Event)
    failure: str = ""


class Flights:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flying: dict[Hashable, Flight] = {}

    def find(self, key: Hashable) -> Flight | None:
        with self._lock:
            return self._flying.get(key)

    @contextmanager
    def lead(self, key: Hashable, url: str) -> Iterator[tuple[Flight, bool]]:
        """Yield the download of a key, and whether the caller has to do it because nobody else is doing it."""
        with self._lock:
            flight = self._flying.get(key)
            leader = flight is None
            if flight is None:
                flight = self._flying[key] = Flight(url)
        try:
            yield flight, leader
        finally:
            if leader:
                with self._lock:
                    del self._flying[key]
                flight.done.set()
