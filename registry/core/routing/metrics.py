"""Metrics of a golden set: a verdict for each case, and the rates over all of them.

A case is judged by what an agent gets. Below the threshold nothing is found, and the expected skill counts as missed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.core.routing.golden import Case

CORRECT_TRIGGER, TRUE_NEGATIVE = "correct_trigger", "true_negative"
MISSED_TRIGGER, WRONG_SKILL, FALSE_TRIGGER, ERROR = "missed_trigger", "wrong_skill", "false_trigger", "error"
ACCEPTABLE = "acceptable"  # no judgement: an acceptable skill was picked, so that the case leaves every rate
VERDICTS = (CORRECT_TRIGGER, TRUE_NEGATIVE, MISSED_TRIGGER, WRONG_SKILL, FALSE_TRIGGER, ERROR, ACCEPTABLE)
MISSES = (MISSED_TRIGGER, WRONG_SKILL, FALSE_TRIGGER, ERROR)

LIMIT = 5  # the matches that an agent gets by default, and that MRR and recall look at
_RECIPROCALS = 60  # divisible by each rank up to LIMIT, so that sums of reciprocal ranks are exact


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one case.

    `ranking` is the whole ranking, also below the threshold. `picked` is the first match that an agent gets, or "".
    `rank` is the place of the first expected skill among the matches, or 0 if none of the first five is expected.
    """

    case: Case
    ranking: tuple[str, ...]
    picked: str
    confidence: float
    verdict: str
    rank: int


@dataclass(frozen=True, slots=True)
class SkillMetrics:
    """The cases of one skill. `precision` is `right` of `picked`, `recall` is `right` of `expected`.

    A case with several expected skills belongs to the one that was picked, otherwise to the first.
    """

    name: str
    expected: int
    picked: int
    right: int

    @property
    def precision(self) -> float | None:
        return _ratio(self.right, self.picked)

    @property
    def recall(self) -> float | None:
        return _ratio(self.right, self.expected)


@dataclass(frozen=True, slots=True)
class Confused:
    """A cell of the confusion table. An empty name means that no skill is expected, or that none was picked."""

    expected: str
    picked: str
    count: int


@dataclass(frozen=True, slots=True)
class StaleCase:
    """A case that cannot be judged. `names` are its expected skills that agents do not get, `reason` says why."""

    case: Case
    names: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The metrics of one run.

    `cases` counts all outcomes. `positives` is the number of cases behind P@1, MRR and recall: those with an expected
    skill, without the ones for which an acceptable skill was picked. `negatives` is the number behind
    `false_triggers`: those without an expected skill, without acceptable picks and errors. A rate of no cases is None.
    Stale cases are in no number.
    """

    cases: int
    positives: int
    negatives: int
    p_at_1: float | None
    mrr: float | None
    recall_at_5: float | None
    false_triggers: float | None
    per_skill: tuple[SkillMetrics, ...]
    confusion: tuple[Confused, ...]
    outcomes: tuple[Outcome, ...]
    stale: tuple[StaleCase, ...] = ()

    @property
    def misses(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.verdict in MISSES)

    @property
    def verdicts(self) -> dict[str, int]:
        """Return the number of cases of each verdict."""
        counts = Counter(outcome.verdict for outcome in self.outcomes)
        return {verdict: counts[verdict] for verdict in VERDICTS}


def judge(case: Case, ranking: Sequence[str], *, found: bool, confidence: float = 0.0) -> Outcome:
    """Return the outcome of a case. `found` is false if the confidence is below the threshold."""
    names = tuple(ranking)
    matches = names[:LIMIT] if found else ()
    picked = matches[0] if matches else ""
    rank = next((place for place, name in enumerate(matches, start=1) if name in case.expected), 0)
    return Outcome(case, names, picked, confidence, _verdict(case, picked), rank)


def failed(case: Case) -> Outcome:
    """Return the outcome of a case that could not be routed."""
    return Outcome(case, (), "", 0.0, ERROR, 0)


def _verdict(case: Case, picked: str) -> str:
    if not picked:
        return MISSED_TRIGGER if case.expected else TRUE_NEGATIVE
    if picked in case.expected:
        return CORRECT_TRIGGER
    if picked in case.acceptable:
        return ACCEPTABLE
    return WRONG_SKILL if case.expected else FALSE_TRIGGER


def report(outcomes: Iterable[Outcome], stale: Iterable[StaleCase] = ()) -> Report:
    """Return the metrics of the outcomes.

    A case for which an acceptable skill was picked is neither right nor wrong, so it leaves the denominator of every
    rate. An error counts as a miss if a skill is expected. Otherwise it leaves the rate of false triggers, because
    nothing was found for the wrong reason.
    """
    every = tuple(outcomes)
    positive = [one for one in every if one.case.expected and one.verdict != ACCEPTABLE]
    negative = [one for one in every if one.verdict in (TRUE_NEGATIVE, FALSE_TRIGGER)]
    count = len(positive)
    return Report(
        cases=len(every),
        positives=count,
        negatives=len(negative),
        p_at_1=_ratio(sum(one.verdict == CORRECT_TRIGGER for one in positive), count),
        mrr=_ratio(sum(reciprocal(one.rank) for one in positive), _RECIPROCALS * count),
        recall_at_5=_ratio(sum(one.rank > 0 for one in positive), count),
        false_triggers=_ratio(sum(one.verdict == FALSE_TRIGGER for one in negative), len(negative)),
        per_skill=_per_skill(every),
        confusion=_confusion(every),
        outcomes=every,
        stale=tuple(stale),
    )


def reciprocal(rank: int) -> int:
    """Return the reciprocal of a rank in sixtieths, and 0 for rank 0."""
    return _RECIPROCALS // rank if rank else 0


def expected_of(outcome: Outcome) -> str:
    """Return the expected skill that a case belongs to: the picked one, otherwise the first, or "" if it has none."""
    expected = outcome.case.expected
    return outcome.picked if outcome.picked in expected else next(iter(expected), "")


def _confusion(outcomes: Sequence[Outcome]) -> tuple[Confused, ...]:
    counted = [one for one in outcomes if one.verdict not in (ACCEPTABLE, ERROR)]
    cells = Counter((expected_of(one), one.picked) for one in counted)
    return tuple(Confused(*names, count) for names, count in sorted(cells.items()))


def _per_skill(outcomes: Sequence[Outcome]) -> tuple[SkillMetrics, ...]:
    counted = [one for one in outcomes if one.verdict != ACCEPTABLE]
    expected = Counter(expected_of(one) for one in counted)
    picked = Counter(one.picked for one in counted)
    right = Counter(one.picked for one in counted if one.verdict == CORRECT_TRIGGER)
    names = sorted({*expected, *picked} - {""})
    return tuple(SkillMetrics(name, expected[name], picked[name], right[name]) for name in names)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
