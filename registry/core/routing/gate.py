"""The evaluation gate: limits for the metrics of a golden set, and the comparison with a baseline."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from registry.core.routing import metrics
from registry.core.routing.golden import case_key
from registry.core.routing.metrics import Outcome, Report


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a project. A rate that equals its limit passes. Rates are compared without rounding."""

    least_p_at_1: float = 0.80
    least_mrr: float = 0.85
    most_false_triggers: float = 0.20
    least_cases: int = 8


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier run: the verdict and the rank of each case, by `case_key`."""

    results: Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a run. `passed` is None if nothing could be measured. `reasons` are sentences."""

    passed: bool | None
    reasons: tuple[str, ...] = ()


def verdict(report: Report, limits: Limits, baseline: Baseline | None = None) -> Verdict:
    """Return whether a run is within the limits and not worse than the baseline."""
    if not report.cases:
        stale = f" {_questions(len(report.stale))} cannot be judged." if report.stale else ""
        return Verdict(None, (f"No verdict: there are no test questions to measure.{stale}",))
    if report.p_at_1 is None or report.mrr is None:
        return Verdict(None, ("No verdict: P@1 and MRR need a test question with an expected skill.",))
    reasons = [*_beyond(report, limits, report.p_at_1, report.mrr), *_worse(report, baseline)]
    return Verdict(not reasons, tuple(reasons))


def _beyond(report: Report, limits: Limits, p_at_1: float, mrr: float) -> Iterable[str]:
    if report.cases < limits.least_cases:
        yield f"{_questions(report.cases)} could be judged, and at least {limits.least_cases:,} are needed."
    if p_at_1 < limits.least_p_at_1:
        yield "P@1 is {}, and at least {} is needed.".format(*_apart(p_at_1, limits.least_p_at_1))
    if mrr < limits.least_mrr:
        yield "MRR is {}, and at least {} is needed.".format(*_apart(mrr, limits.least_mrr))
    false = report.false_triggers
    if false is not None and false > limits.most_false_triggers:
        shown = _apart(false, limits.most_false_triggers)
        yield "The rate of false triggers is {}, and at most {} is allowed.".format(*shown)
    if errors := report.verdicts[metrics.ERROR]:
        yield f"{_questions(errors)} could not be routed."


def _worse(report: Report, baseline: Baseline | None) -> Iterable[str]:
    """Yield how a run is worse than the baseline, over the cases that both judged.

    The tolerance is less than one case. Routing is deterministic, so one right answer fewer, or one false trigger
    more, is a regression. MRR also moves a little if an expected skill goes from place 2 to 3, so it is a regression
    only from the worth of one whole case. A case that was added, changed or became stale is not compared, so that new
    and harder questions do not look like worse routing.
    """
    then_of = baseline.results if baseline else {}
    both = [(*then_of[key], one) for one in report.outcomes if (key := case_key(one.case)) in then_of]
    both = [row for row in both if metrics.ACCEPTABLE not in (row[0], row[2].verdict)]
    compared = f"{_questions(len(both))} of both runs"
    right, right_before = (_count(both, metrics.CORRECT_TRIGGER, before=before) for before in (False, True))
    if right < right_before:
        yield f"Worse than the baseline: {right} of {compared} find the right skill. Before, {right_before} did."
    fall = sum(metrics.reciprocal(rank) - metrics.reciprocal(now.rank) for _, rank, now in both)
    if right >= right_before and fall >= metrics.reciprocal(1):
        yield f"Worse than the baseline: expected skills moved down. MRR over {compared} fell by the worth of one."
    false, false_before = (_count(both, metrics.FALSE_TRIGGER, before=before) for before in (False, True))
    if false > false_before:
        triggers = "false trigger" if false == 1 else "false triggers"
        yield f"Worse than the baseline: {false} {triggers} in {compared}, and {false_before} before."


def _count(both: Sequence[tuple[str, int, Outcome]], wanted: str, *, before: bool) -> int:
    return sum((then if before else now.verdict) == wanted for then, _, now in both)


def _questions(number: int) -> str:
    return f"{number:,} test question{'' if number == 1 else 's'}"


def _apart(value: float, limit: float) -> tuple[str, str]:
    """Return both numbers with at least three decimals, and with as many as it takes to tell them apart."""
    for digits in range(3, 17):
        shown = f"{value:.{digits}f}", f"{limit:.{digits}f}"
        if shown[0] != shown[1]:
            return shown
    return repr(value), repr(limit)
