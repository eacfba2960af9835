"""A bounded number of holders."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from registry.lib.places import Places


def test_places_are_limited_in_total_and_for_each_key() -> None:
    places = Places(3, 2)
    assert [places.take(key) for key in ("a", "a", "a", "b", "b")] == [True, True, False, True, False]
    assert (places.has_taken_all("a"), places.has_taken_all("b")) == (True, False)


def test_a_place_that_was_left_can_be_taken_again() -> None:
    places = Places(1, 1)
    assert places.take("a")
    places.leave("a")
    assert places.take("b")
    assert not places.take("a")


def test_leaving_a_place_that_nobody_has_does_not_make_room() -> None:
    places = Places(1, 1)
    places.leave("a")
    assert places.take("a")
    assert not places.take("a")


@pytest.mark.parametrize("each", [10, 3])
def test_threads_never_take_more_than_there_are(each: int) -> None:
    places = Places(10, each)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: places.take("a"), range(200)))
    assert sum(taken) == each
