"""Circuit breakers: when they open, when they let a probe out, and what they forget."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.lib.circuit_breaker import FAILURES, PAUSE_SECONDS, Admission, CircuitBreaker, Outcome
from tests.effort import examples


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(clock)


def end(breaker: CircuitBreaker, outcome: Outcome, service: str = "a") -> None:
    admission = breaker.admit(service)
    assert admission
    breaker.report(admission, outcome)


def open_it(breaker: CircuitBreaker, service: str = "a") -> None:
    for _ in range(FAILURES):
        end(breaker, Outcome.FAILURE, service)


def test_it_opens_after_the_last_of_five_failures_in_a_row(breaker: CircuitBreaker) -> None:
    for _ in range(FAILURES - 1):
        end(breaker, Outcome.FAILURE)
    assert breaker.seconds_left("a") == 0
    end(breaker, Outcome.FAILURE)
    assert breaker.admit("a") is None
    assert breaker.seconds_left("a") == PAUSE_SECONDS


def test_a_success_between_failures_starts_the_count_again(breaker: CircuitBreaker) -> None:
    for _ in range(3):
        for _ in range(FAILURES - 1):
            end(breaker, Outcome.FAILURE)
        end(breaker, Outcome.SUCCESS)
    assert breaker.admit("a")


def test_a_call_that_did_not_reach_the_service_counts_neither_way(breaker: CircuitBreaker) -> None:
    for _ in range(FAILURES - 1):
        end(breaker, Outcome.FAILURE)
        end(breaker, Outcome.UNKNOWN)
    end(breaker, Outcome.FAILURE)
    assert breaker.admit("a") is None


def test_other_services_are_not_affected(breaker: CircuitBreaker) -> None:
    open_it(breaker)
    assert breaker.admit("b")


def test_one_probe_goes_out_after_the_pause(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS - 0.001
    assert breaker.admit("a") is None
    clock.now += 0.001
    assert breaker.admit("a")
    assert [breaker.admit("a") for _ in range(3)] == [None] * 3


def test_a_probe_that_fails_opens_it_for_another_pause(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS
    end(breaker, Outcome.FAILURE)
    assert breaker.seconds_left("a") == PAUSE_SECONDS
    assert breaker.admit("a") is None


def test_a_probe_that_succeeds_closes_it_with_a_new_count(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS
    end(breaker, Outcome.SUCCESS)
    for _ in range(FAILURES - 1):
        end(breaker, Outcome.FAILURE)
    assert breaker.admit("a")


def test_a_probe_that_never_left_makes_room_for_the_next(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS
    end(breaker, Outcome.UNKNOWN)
    assert breaker.admit("a")


def test_a_lost_probe_counts_as_ended_after_a_pause(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS
    lost = breaker.admit("a")
    clock.now += PAUSE_SECONDS
    second = breaker.admit("a")
    assert lost and second
    breaker.report(lost, Outcome.SUCCESS)
    assert breaker.admit("a") is None
    breaker.report(second, Outcome.SUCCESS)
    assert breaker.admit("a")


@pytest.mark.parametrize("late", [Outcome.SUCCESS, Outcome.FAILURE, Outcome.UNKNOWN])
def test_an_outcome_from_before_it_opened_changes_nothing(breaker: CircuitBreaker, clock: Clock, late: Outcome) -> None:
    early = breaker.admit("a")
    assert early
    open_it(breaker)
    clock.now += 1
    breaker.report(early, late)
    assert breaker.seconds_left("a") == PAUSE_SECONDS - 1


def test_only_so_many_services_are_remembered(clock: Clock) -> None:
    breaker = CircuitBreaker(clock, most=3)
    for service in "abcd":
        open_it(breaker, service)
    assert [breaker.admit(service) is None for service in "abcd"] == [False, True, True, True]


def test_many_threads_let_one_probe_out(breaker: CircuitBreaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += PAUSE_SECONDS
    with ThreadPoolExecutor(8) as pool:
        admitted = [one for one in pool.map(lambda _: breaker.admit("a"), range(400)) if one]
    assert len(admitted) == 1


Event = tuple[str, float]
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.sampled_from([0.5, 10.0, 29.5, 30.0, 90.0])),
        st.tuples(st.just("admit"), st.just(0.0)),
        st.tuples(st.sampled_from(["success", "failure", "unknown"]), st.integers(0, 20).map(float)),
    ),
    max_size=60,
)


@settings(max_examples=examples(200))
@given(EVENTS)
def test_a_refusal_needs_failures_and_ends_exactly_when_it_says(events: list[Event]) -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    out: list[Admission] = []
    failures = 0
    for name, value in events:
        if name == "wait":
            clock.now += value
        elif name == "admit":
            if admission := breaker.admit("a"):
                out.append(admission)
            else:
                assert failures >= FAILURES
        elif out:
            breaker.report(out.pop(int(value) % len(out)), Outcome[name.upper()])
            failures += name == "failure"
    left = breaker.seconds_left("a")
    assert 0 <= left <= PAUSE_SECONDS
    if left:
        clock.now += left - 0.001
        assert breaker.admit("a") is None
        clock.now += 0.002
    assert breaker.admit("a")
    assert left == 0 or breaker.admit("a") is None
