"""Confidence: the learned numbers are finite, and the learned threshold keeps the right answers."""

import math

from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import confidence
from registry.core.routing.confidence import DEFAULT, SIGNALS, learn, probability
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
