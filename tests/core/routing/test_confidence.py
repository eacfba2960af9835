"""Confidence: the learned numbers are finite, and the learned threshold keeps the right answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import confidence
from registry.core.routing.confidence import DEFAULT, SIGNALS, learn, of_matches, probability
from tests.core.strategies import law

_signals = st.tuples(*[st.floats(-30, 30) for _ in SIGNALS])
_observations = st.lists(st.tuples(_signals, st.booleans()), max_size=20)


@law
@given(_observations)
def test_whatever_is_observed_the_result_is_finite_and_keeps_the_right_answers(
    observations: list[tuple[tuple[float, ...], bool]],
) -> None:
    learned = learn(observations, keep=0.95)
    assert len(learned.calibration) == len(DEFAULT)
    assert all(math.isfinite(number) for number in learned.calibration)
    assert 0 < learned.threshold <= 1
    right = [probability(signals, learned.calibration) for signals, is_right in observations if is_right]
    kept = sum(sure >= learned.threshold for sure in right)
    low = sum(sure < 0.01 for sure in right)  # is never kept
    assert kept + low >= 0.95 * len(right)


def test_a_fit_far_from_the_default_does_not_diverge() -> None:
    score = SIGNALS.index("score")
    rows = [tuple(20.0 + step if place == score else 0.5 for place in range(len(SIGNALS))) for step in range(10)]
    learned = learn([(row, place >= 5) for place, row in enumerate(rows)] * 10)
    assert max(map(abs, learned.calibration)) < 50
    assert probability(rows[0], learned.calibration) < learned.threshold < probability(rows[9], learned.calibration)


def test_nothing_is_learned_from_nothing() -> None:
    assert learn([]) == confidence.Learned(DEFAULT, 0.5)
    assert learn([((1.0,), True)]).calibration == DEFAULT


_likely = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 30), st.floats(0, 5), st.sampled_from([0.0, 1.0]))


@law
@given(_likely, st.integers(0, len(SIGNALS) - 2), st.floats(0, 1))
def test_more_evidence_never_lowers_the_default_confidence(one: tuple[float, ...], at: int, more: float) -> None:
    other = tuple(value + more * (place == at) for place, value in enumerate(one))
    assert 0 < probability(one) <= probability(other) <= 1


def test_a_wrong_first_match_lowers_the_confidence_of_similar_ones() -> None:
    similar = (0.6, 0.3, 8.0, 1.5, 1.0)
    wrong = learn([(similar, False)] * 20).calibration
    right = learn([(similar, True)] * 20).calibration
    assert probability(similar, wrong) < probability(similar) < probability(similar, right)


@pytest.mark.parametrize("unknown", [(), (1.0,), (1.0,) * 40])
def test_signals_of_another_version_have_no_confidence(unknown: tuple[float, ...]) -> None:
    assert probability(unknown) == 0.0


@pytest.mark.parametrize("stored", [(), (1.0,), (1.0,) * 40])
def test_a_calibration_of_another_version_is_not_used(stored: tuple[float, ...]) -> None:
    strong = (1.0,) * len(SIGNALS)
    assert probability(strong, stored) == probability(strong, DEFAULT)


@law
@given(_likely, st.lists(st.floats(0, 30), max_size=8))
def test_a_later_match_is_never_surer_than_the_one_before_it(one: tuple[float, ...], behind: list[float]) -> None:
    score = one[SIGNALS.index("score")]
    scores = [score, *(score - gap for gap in sorted(behind))]
    sure = of_matches(one, scores)
    assert sure[0] == probability(one)
    assert list(sure) == sorted(sure, reverse=True)
    assert all(0 <= later <= 1 - sure[0] for later in sure[1:])


def test_two_equal_matches_that_are_likely_share_what_is_left() -> None:
    sure = of_matches((0.9, 0.9, 12.0, 2.0, 1.0), [12.0, 12.0, 2.0])
    assert sure[0] > 0.9
    assert sure[1] == pytest.approx(1 - sure[0])
    assert sure[2] < sure[1] / 1_000


def test_no_match_has_no_confidence() -> None:
    assert of_matches((), []) == ()
