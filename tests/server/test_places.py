"""Places for slow clients: limits, and who loses a place."""

import asyncio
from typing import Any

import pytest

from skillsite.server.places import LEAST_RATE, Place, Places


def take(places: Places, network: str) -> Place:
    place = places.take(network)
    assert place is not None
    return place


async def hold(place: Place, *, bytes_per_second: int, seconds: float = 10.0) -> str:
    """Keep a transfer open. Return how it ended."""
    place.since -= seconds
    place.advance(int(bytes_per_second * seconds))
    try:
        async with place.transfer():
            await asyncio.get_running_loop().create_future()
    except TimeoutError:
        return "cut off"
    return "done"


def test_the_slowest_client_loses_its_place_to_a_new_one() -> None:
    async def run() -> None:
        places = Places(total=2, per_network=2)
        slower, faster = take(places, "a"), take(places, "b")
        transfers = [asyncio.ensure_future(hold(slower, bytes_per_second=1))]
        transfers.append(asyncio.ensure_future(hold(faster, bytes_per_second=100)))
        await asyncio.sleep(0)
        assert places.take("c") is not None
        assert await transfers[0] == "cut off"
        assert not transfers[1].done()
        transfers[1].cancel()

    asyncio.run(run())


def test_nobody_loses_a_place_to_a_client_of_another_network_that_has_too_many() -> None:
    async def run() -> None:
        places = Places(total=10, per_network=1)
        waiting = [asyncio.ensure_future(hold(take(places, name), bytes_per_second=1)) for name in ("a", "b")]
        await asyncio.sleep(0)
        assert places.take("b") is not None
        assert await waiting[1] == "cut off"
        assert not waiting[0].done()
        waiting[0].cancel()

    asyncio.run(run())


def test_one_sender_in_many_networks_has_a_limited_number_of_places() -> None:
    places = Places(total=10, per_network=5, per_sender=2)
    assert places.take("a", "1") and places.take("b", "1")
    assert places.take("c", "1") is None
    assert places.take("c", "2") is not None


def test_clients_without_a_known_sender_share_only_the_places_of_their_network() -> None:
    places = Places(total=10, per_network=2, per_sender=1)
    assert places.take("a") and places.take("a") and places.take("b")
    assert places.take("a") is None


@pytest.mark.parametrize(("rate", "seconds"), [(1, 0.1), (1_000_000, 60.0)])
def test_a_new_or_a_fast_client_keeps_its_place(rate: int, seconds: float) -> None:
    async def run() -> None:
        places = Places(total=1, per_network=1)
        first = take(places, "a")
        waiting = asyncio.ensure_future(hold(first, bytes_per_second=rate, seconds=seconds))
        await asyncio.sleep(0)
        assert places.take("b") is None
        places.leave(first)
        assert places.take("b") is not None
        waiting.cancel()

    asyncio.run(run())


def test_an_early_burst_does_not_excuse_a_later_silence(settings: Any) -> None:
    settings.SLOW_CLIENT_SECONDS = 1

    async def run() -> None:
        place = Place("a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30), place.transfer():
                place.advance(LEAST_RATE * 1_000)
                await asyncio.get_running_loop().create_future()

    asyncio.run(run())
