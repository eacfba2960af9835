"""Learn the weights of the ranking and the default of the confidence, and show how they carry over to other sets.

    python -m bench.routing_weights --sets DIR [--write]

DIR has sets as bench/routing_quality.py reads them. Weights are learned from these sets, the confidence also from the
development questions of the built-in library (bench/routing_development.json). The golden set that is shipped with the
library is never read here, so that it stays an independent test. The table leaves one set out at a time: weights and
confidence are learned from the other sets and measured on this one. `--write` renews it in bench/routing.md. The last
lines are the values for core/routing/weights.py and core/routing/confidence.py, learned from all sets.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bench import routing_quality, routing_sets
from bench.routing_rankers import Chain
from bench.routing_sets import SkillSet
from registry.core.routing import analysis, confidence, skill_text, weights
from registry.core.routing.index import Index
from registry.core.routing.question import Question, ask
from registry.core.routing.vectors import Encoder

Floats = NDArray[np.float64]

# The evidence of a question behind each weight.
EVIDENCE: Mapping[str, Callable[[Question], Floats]] = {
    "NAME": lambda question: question.word_evidence.names(name=1.0),
    "NAME_SHARE": lambda question: question.word_evidence.names(share=1.0),
    "TRIGGERS": lambda question: question.phrase_evidence.triggers,
    "EXACT": lambda question: question.phrase_evidence.exact,
    "SUMMARY": lambda question: question.word_evidence.words(summary=1.0),
    "COVER": lambda question: question.word_evidence.words(cover=1.0),
    "EARLY": lambda question: question.word_evidence.words(early=1.0),
    "HEAD": lambda question: question.word_evidence.words(head=1.0),
    "LEAD_HEAD": lambda question: question.word_evidence.words(lead_head=1.0),
    "PAIRS": lambda question: question.phrase_evidence.pairs,
    "TEXT": lambda question: question.word_evidence.words(text=1.0),
    "LEAD_COVER": lambda question: question.word_evidence.words(lead_cover=1.0),
    "TEXT_COVER": lambda question: question.word_evidence.words(text_cover=1.0),
    "VECTOR": lambda question: question.similarity(question.index.rows),
    "PHRASE": lambda question: question.phrase_similarity(question.index.rows),
}
# Weights that carried over between seven public sets, for the evidence that they name. The other values are guesses.
PRIOR = {
    "NAME": 1.74, "NAME_SHARE": 0.5, "TRIGGERS": 0.5, "EXACT": 5.0, "SUMMARY": 3.66, "COVER": 1.51, "EARLY": 0.0,
    "HEAD": 2.43, "LEAD_HEAD": 1.5, "PAIRS": 1.98, "TEXT": 3.66, "LEAD_COVER": 1.51, "TEXT_COVER": 0.75,
    "VECTOR": 2.49, "PHRASE": 2.28,
}  # fmt: skip
FIXED = "EXACT"  # too few questions of the public sets are a whole trigger to learn from
FIRMNESS = 10.0  # how firmly the weights are held to PRIOR
SET_WORTH = 200.0  # questions that each set counts as, whatever its size
CONFIDENCE_WORTH, CONFIDENCE_FIRMNESS = 250.0, 1.0  # the same for the confidence, which is held to zero
FREE_SIGNALS = ("length", "has_vectors")  # may count against a match; all others are evidence for it
_ROUNDS, _SMALL = 100, 1e-5
BEGIN, END = "<!-- left out: python -m bench.routing_weights --write -->", "<!-- end of left out -->"


@dataclass(frozen=True)
class Lesson:
    """A question: the evidence of each skill, one row for a skill, and the rows of the expected skills."""

    evidence: Floats
    expected: NDArray[np.intp]


def lessons(skill_set: SkillSet, encoder: Encoder) -> list[Lesson]:
    texts = (skill_text.read(name, content) for name, content in skill_set.skills.items())
    index = Index.of(analysis.analyse(text, encoder) for text in texts)
    found = []
    for case in skill_set.cases:
        question = ask(case.query, index, encoder)
        expected = np.array([index.row_of[name] for name in case.expected if name in index.row_of], np.intp)
        if len(expected) and not question.query.empty:
            found.append(Lesson(np.stack([evidence(question) for evidence in EVIDENCE.values()], axis=1), expected))
    return found


def learn_weights(sets: Sequence[Sequence[Lesson]]) -> dict[str, float]:
    """Return the weights under which the expected skills are most likely, in a softmax over all skills of a set."""
    prior = np.array(list(PRIOR.values()))
    free = np.array([name != FIXED for name in PRIOR])
    worth = [(lesson, SET_WORTH / len(each)) for each in sets for lesson in each]

    def loss(values: Floats) -> tuple[float, Floats, Floats]:
        total = FIRMNESS / 2 * float(((values - prior) ** 2).sum())
        gradient, curvature = FIRMNESS * (values - prior), FIRMNESS * np.eye(len(values))
        for lesson, share in worth:
            likely = np.exp(_centred(lesson.evidence @ values))
            likely /= likely.sum()
            right = likely[lesson.expected]
            mean, mean_right = likely @ lesson.evidence, right @ lesson.evidence[lesson.expected] / right.sum()
            total -= share * float(np.log(right.sum() + 1e-12))
            gradient -= share * (mean_right - mean)
            spread = lesson.evidence - mean
            curvature += share * (spread * likely[:, None]).T @ spread
        return total, gradient, curvature

    values = _minimum(loss, prior, free, at_least_zero=free)
    return {name: round(float(value), 2) for name, value in zip(PRIOR, values, strict=True)}


def learn_confidence(observed: Sequence[Sequence[tuple[tuple[float, ...], bool]]]) -> tuple[float, ...]:
    """Return the logistic regression from signals to right answers, with a normal prior around zero."""
    x = np.array([(1.0, *signals) for each in observed for signals, _ in each])
    y = np.array([float(right) for each in observed for _, right in each])
    share = np.concatenate([np.full(len(each), CONFIDENCE_WORTH / len(each)) for each in observed])
    firmness = np.array([0.01, *[CONFIDENCE_FIRMNESS] * len(confidence.SIGNALS)])

    def loss(values: Floats) -> tuple[float, Floats, Floats]:
        z = x @ values
        p = 1.0 / (1.0 + np.exp(-np.clip(z, -30, 30)))
        total = float((share * (np.logaddexp(0.0, z) - y * z)).sum() + (firmness * values**2).sum() / 2)
        gradient = x.T @ (share * (p - y)) + firmness * values
        return total, gradient, (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(firmness)

    bounded = np.array([False, *(signal not in FREE_SIGNALS for signal in confidence.SIGNALS)])
    values = _minimum(loss, np.zeros(len(firmness)), np.ones(len(firmness), bool), at_least_zero=bounded)
    return tuple(round(float(value), 2) for value in values)


def _centred(scores: Floats) -> Floats:
    centred: Floats = scores - scores.max()
    return centred


def _minimum(
    loss: Callable[[Floats], tuple[float, Floats, Floats]],
    start: Floats,
    free: NDArray[np.bool_],
    *,
    at_least_zero: NDArray[np.bool_],
) -> Floats:
    """Minimise a smooth loss by Newton's method over the free values. Bounded values stop at zero."""
    values = start.copy()
    for _ in range(_ROUNDS):
        before, gradient, curvature = loss(values)
        moving = free & ~(at_least_zero & (values <= 0) & (gradient > 0))
        step = np.zeros(len(values))
        step[moving] = np.linalg.solve(curvature[np.ix_(moving, moving)], gradient[moving])
        for _ in range(30):
            tried = np.where(at_least_zero, np.maximum(values - step, 0.0), values - step)
            if loss(tried)[0] <= before:
                break
            step = step / 2
        moved = float(np.abs(tried - values).max())
        values = tried
        if moved <= _SMALL:
            break
    return values


def observations(skill_set: SkillSet, rankers: Sequence[Chain]) -> list[tuple[tuple[float, ...], bool]]:
    """Return the signals of each first match, and whether it was right, of rankers with and without vectors."""
    found = []
    for ranker in rankers:
        ranker.prepare(skill_set.skills)
        for case in skill_set.cases:
            ranked = ranker.rank(case.query)
            if ranked.signals and ranked.names[0] not in case.acceptable:
                found.append((ranked.signals, ranked.names[0] in case.expected))
    return found


@contextmanager
def using(module: ModuleType, values: Mapping[str, object]) -> Iterator[None]:
    """Run the code of the project with other constants."""
    kept = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(module, name, value)


@dataclass(frozen=True)
class Learned:
    weights: Mapping[str, float]
    confidence: tuple[float, ...]


def learn(
    sets: Sequence[SkillSet], taught: Mapping[str, Sequence[Lesson]], development: SkillSet, encoder: Encoder
) -> Learned:
    learned = learn_weights([taught[each.label] for each in sets])
    rankers = [Chain(encoder, "with vectors"), Chain(None, "text only")]
    with using(weights, learned):
        return Learned(learned, learn_confidence([observations(each, rankers) for each in (*sets, development)]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=Path, required=True, help="a directory of sets")
    parser.add_argument("--write", action="store_true", help="write the table to bench/routing.md")
    arguments = parser.parse_args()
    sets = routing_sets.others(arguments.sets)
    development, encoder = routing_sets.development(), routing_quality.shipped_encoder()
    taught = {each.label: lessons(each, encoder) for each in sets}
    rows = []
    for left_out in sets:
        others = [each for each in sets if each is not left_out]
        learned = learn(others, taught, development, encoder)
        with using(weights, learned.weights), using(confidence, {"DEFAULT": learned.confidence}):
            for ranker in (Chain(encoder, "with vectors"), Chain(None, "text only")):
                rows.append(routing_quality.measure(ranker, left_out))
                rows.append(routing_quality.measure(ranker, left_out.among([*others, development])))
    print(routing_quality.table(rows))
    if arguments.write:
        write(routing_quality.table(rows))
    learned = learn(sets, taught, development, encoder)
    print("\n".join(f"{name} = {value}" for name, value in learned.weights.items()))
    print(f"DEFAULT = {learned.confidence}")


def write(table: str) -> None:
    section = f"""{BEGIN}

## Quality on a set that nothing was learned from

Last run of `python -m bench.routing_weights`: {datetime.now(UTC):%Y-%m-%d}. Weights and confidence are learned without
the set of the row. False triggers and kept as above.

{table}

{END}"""
    routing_quality.replace_section(BEGIN, END, section)


if __name__ == "__main__":
    main()
