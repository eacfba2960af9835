"""Downloads in progress in this process, so that equal ones run only once."""

import threading
from collections.abc import Hashable
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

    def claim(self, key: Hashable, url: str) -> tuple[Flight, bool]:
        """Return the download of a key, and whether the caller leads it because nobody else does.

        The leader must call `end`, even if it does not download. Until then, the others wait for it.
        """
        with self._lock:
            flight = self._flying.get(key)
            if flight is not None:
                return flight, False
            flight = self._flying[key] = Flight(url)
            return flight, True

    def end(self, key: Hashable, flight: Flight) -> None:
        with self._lock:
            del self._flying[key]
        flight.done.set()


class Claims:
    """The downloads that one call leads or waits for."""

    def __init__(self, flights: Flights) -> None:
        self._flights = flights
        self._leading: dict[Hashable, Flight] = {}
        self._joined: dict[Hashable, Flight] = {}

    def add(self, key: Hashable, url: str) -> bool:
        """Join the download of a key, or lead it. Return whether this call leads it."""
        flight, leading = self._flights.claim(key, url)
        (self._leading if leading else self._joined)[key] = flight
        return leading

    def take(self, key: Hashable, url: str) -> tuple[Flight, bool]:
        """Return the download that was added, or claim it again. A leader must end it."""
        if (flight := self._leading.pop(key, None)) is not None:
            return flight, True
        if (flight := self._joined.pop(key, None)) is not None:
            return flight, False
        return self._flights.claim(key, url)

    def end(self, *keys: Hashable) -> None:
        """End the downloads that this call leads and did not take, by default all."""
        for key in keys or tuple(self._leading):
            if (flight := self._leading.pop(key, None)) is not None:
                self._flights.end(key, flight)
