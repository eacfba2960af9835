"""A bounded number of clients that send or read slowly at one time, and their least speed."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from django.conf import settings

LEAST_RATE = 8 * 1024  # bytes per second, over a window of SLOW_CLIENT_SECONDS
_FAIR_SECONDS = 1.0  # nobody loses a place before this time
_FAIR_RATE = 16 * 1024  # bytes per second; nobody loses a place who is faster


@dataclass(eq=False, slots=True)
class Place:
    """The place of one client, and the progress of its transfer."""

    network: str
    sender: str = ""
    bytes: int = 0
    since: float = field(default_factory=time.monotonic)
    _limit: asyncio.Timeout | None = None
    _window_bytes: int = 0

    @asynccontextmanager
    async def transfer(self) -> AsyncIterator[None]:
        """Raise TimeoutError if a window passes in which the client did not reach the least speed."""
        try:
            async with asyncio.timeout(settings.SLOW_CLIENT_SECONDS) as self._limit:
                yield
        finally:
            self._limit = None

    def advance(self, count: int) -> None:
        self.bytes += count
        self._window_bytes += count
        if self._limit is not None and self._window_bytes >= LEAST_RATE * settings.SLOW_CLIENT_SECONDS:
            self._window_bytes = 0
            self._limit.reschedule(asyncio.get_running_loop().time() + settings.SLOW_CLIENT_SECONDS)

    def give_up(self) -> None:
        if self._limit is not None:
            self._limit.reschedule(0)

    def rate(self, now: float) -> float:
        return self.bytes / max(now - self.since, 0.001)

    def slow(self, now: float) -> bool:
        return self._limit is not None and now - self.since > _FAIR_SECONDS and self.rate(now) < _FAIR_RATE


class Places:
    """Places for clients, in total, for each network and for each known sender.

    If there is no free place, the slowest client loses its place to the new one. So clients that hold connections open
    cannot keep out one that sends at an ordinary speed. Used only by the event loop, so it needs no lock.
    """

    def __init__(self, total: int, per_network: int, per_sender: int = 0) -> None:
        self.total, self.per_network, self.per_sender = total, per_network, per_sender
        self._taken: set[Place] = set()

    def take(self, network: str, sender: str = "") -> Place | None:
        """Return a place, or None if all are taken by clients with a fair speed."""
        if sender and not self._has_room([place for place in self._taken if place.sender == sender], self.per_sender):
            return None
        if not self._has_room([place for place in self._taken if place.network == network], self.per_network):
            return None
        if not self._has_room(list(self._taken), self.total):
            return None
        place = Place(network, sender)
        self._taken.add(place)
        return place

    def _has_room(self, places: list[Place], most: int) -> bool:
        return len(places) < most or self._evict_slowest(places)

    def leave(self, place: Place) -> None:
        self._taken.discard(place)

    def _evict_slowest(self, places: list[Place]) -> bool:
        now = time.monotonic()
        slowest = min((one for one in places if one.slow(now)), key=lambda one: one.rate(now), default=None)
        if slowest is None:
            return False
        self.leave(slowest)
        slowest.give_up()
        return True
