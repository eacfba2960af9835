"""The probability that a match is right, and the threshold below which nothing is answered.

A logistic function of signals that describe one match. DEFAULT was learned from public questions. A project's golden
questions adjust it, the less the fewer there are, because no threshold carries over from one set of skills to another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

# The lead over the second match is not among them: a question between two skills has one, and is no reason for “none”.
SIGNALS = ("text", "pairs", "score", "length", "has_vectors")
# The intercept, then one weight for each of SIGNALS. bench/routing_weights.py learns them.
DEFAULT: tuple[float, ...] = (-6.12, 1.35, 1.46, 0.38, 1.86, -0.6)
_PRIOR = 2.0  # how firmly few observations are held to DEFAULT
_ROUNDS, _SMALL = 50, 1e-6  # of Newton's method
_LEAST_THRESHOLD, _NO_THRESHOLD = 0.01, 0.5  # the second one, if no answer was right


@dataclass(frozen=True, slots=True)
class Learned:
    """A calibration, and the threshold that keeps most of the right answers."""

    calibration: tuple[float, ...]
    threshold: float


def probability(signals: Sequence[float], calibration: Sequence[float] = DEFAULT) -> float:
    """Return the probability that a match with these signals is right. Without signals it is 0.

    A calibration of another length, which an earlier version stored, is replaced by DEFAULT.
    """
    if len(signals) != len(SIGNALS):
        return 0.0
    weights = calibration if len(calibration) == len(DEFAULT) else DEFAULT
    z = weights[0] + sum(weight * signal for weight, signal in zip(weights[1:], signals, strict=True))
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, z))))


def of_matches(
    signals: Sequence[float], scores: Sequence[float], calibration: Sequence[float] = DEFAULT
) -> tuple[float, ...]:
    """Return the probability of each match, best first, from the signals of the first one and the scores of all.

    A later match can only be right if the first one is not, and is less likely the further its score is behind.
    """
    if not scores:
        return ()
    first = probability(signals, calibration)
    return (first, *(min(first, 1.0 - first) * exp(min(0.0, score - scores[0])) for score in scores[1:]))


def learn(observations: Sequence[tuple[tuple[float, ...], bool]], *, keep: float = 0.95) -> Learned:
    """Learn from (signals of the first match, was it right). The threshold keeps the share `keep` of the right ones."""
    usable = [(signals, right) for signals, right in observations if len(signals) == len(SIGNALS)]
    calibration = _fitted(usable) if usable else DEFAULT
    right = sorted(probability(signals, calibration) for signals, is_right in usable if is_right)
    if not right:
        return Learned(calibration, _NO_THRESHOLD)
    return Learned(calibration, max(_LEAST_THRESHOLD, _quantile(right, 1.0 - keep) - 1e-9))


def _quantile(values: Sequence[float], share: float) -> float:
    """Return a value below which `share` of further values will be, from a few sorted ones.

    Of 28 values, the share of 5 % is between the first and the second: the first alone would be too cautious.
    """
    at = (len(values) + 0.7) * share - 0.85
    if at <= 0:
        return values[0]
    low = min(int(at), len(values) - 1)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def _fitted(observations: Sequence[tuple[tuple[float, ...], bool]]) -> tuple[float, ...]:
    """Return the logistic regression with a normal prior around DEFAULT, by Newton's method.

    A step that would make the fit worse is halved. Without that, signals far from the prior make the method diverge.
    """
    x = np.array([(1.0, *signals) for signals, _ in observations])
    y = np.array([float(right) for _, right in observations])
    prior = np.array(DEFAULT)
    firmness = np.full(len(prior), _PRIOR)
    firmness[0] = _PRIOR / 20

    def loss(weights: NDArray[np.float64]) -> float:
        z = x @ weights
        return float((np.logaddexp(0.0, z) - y * z).sum() + (firmness * (weights - prior) ** 2).sum() / 2)

    weights = prior.copy()
    for _ in range(_ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) + firmness * (weights - prior)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(firmness)
        step = np.linalg.solve(hessian, gradient)
        before = loss(weights)
        while loss(weights - step) > before and float(np.abs(step).max()) > _SMALL:
            step = step / 2
        weights = weights - step
        if float(np.abs(step).max()) <= _SMALL:
            break
    return tuple(float(weight) for weight in weights)
