"""Metrics: a verdict for each case, rates over all of them, and the laws that the rates keep."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import metrics
from registry.core.routing.golden import Case
from registry.core.routing.metrics import Outcome, StaleCase, judge, report
from tests.core.strategies import law

NAMES = ("a", "b", "c", "d", "e", "f", "g")
POSITIVE = Case("q", ("a",), ("b",))
NEGATIVE = Case("q")


def judged(case: Case, *ranking: str, found: bool = True) -> Outcome:
    return judge(case, ranking, found=found)


@pytest.mark.parametrize(
    ("case", "ranking", "found", "verdict", "rank"),
    [
        (POSITIVE, "ac", True, "correct_trigger", 1),
        (POSITIVE, "ca", True, "wrong_skill", 2),
        (POSITIVE, "ba", True, "acceptable", 2),
        (POSITIVE, "cdefga", True, "wrong_skill", 0),
        (POSITIVE, "a", False, "missed_trigger", 0),
        (POSITIVE, "", True, "missed_trigger", 0),
        (NEGATIVE, "a", True, "false_trigger", 0),
        (NEGATIVE, "a", False, "true_negative", 0),
        (NEGATIVE, "", True, "true_negative", 0),
        (Case("q", (), ("b",)), "b", True, "acceptable", 0),
        (Case("q", ("c", "d")), "xdc", True, "wrong_skill", 2),
    ],
)
def test_a_case_is_judged_by_what_an_agent_gets(case: Case, ranking: str, found: bool, verdict: str, rank: int) -> None:
    outcome = judge(case, list(ranking), found=found, confidence=0.5)
    assert (outcome.verdict, outcome.rank) == (verdict, rank)
    assert outcome.ranking == tuple(ranking)


def test_rates_of_a_small_set() -> None:
    measured = report(
        [
            judged(POSITIVE, "a"),
            judged(POSITIVE, "c", "a"),
            judged(POSITIVE, "b", "a"),
            judged(POSITIVE, "a", found=False),
            judged(NEGATIVE, "c"),
            judged(NEGATIVE),
            metrics.failed(POSITIVE),
            metrics.failed(NEGATIVE),
        ]
    )
    assert (measured.cases, measured.positives, measured.negatives) == (8, 4, 2)
    assert (measured.p_at_1, measured.mrr, measured.recall_at_5) == (1 / 4, 1.5 / 4, 2 / 4)
    assert measured.false_triggers == 1 / 2
    assert measured.verdicts["error"] == 2
    assert len(measured.misses) == 5


def test_nothing_is_measured_without_cases() -> None:
    measured = report([], [StaleCase(POSITIVE, ("a",), "There is no skill a.")])
    rates = (measured.p_at_1, measured.mrr, measured.recall_at_5, measured.false_triggers)
    assert rates == (None, None, None, None)
    assert (measured.cases, len(measured.stale)) == (0, 1)


def test_an_acceptable_pick_is_neither_right_nor_wrong() -> None:
    other = [judged(POSITIVE, "a"), judged(POSITIVE, "c")]
    with_it = report([*other, judged(POSITIVE, "b", "a")])
    without = report(other)
    assert with_it.p_at_1 == without.p_at_1
    assert with_it.mrr == without.mrr
    assert with_it.per_skill == without.per_skill
    assert with_it.confusion == without.confusion
    assert with_it.cases == without.cases + 1


def test_precision_and_recall_of_each_skill() -> None:
    both = Case("q", ("a", "b"))
    measured = report([judged(both, "b"), judged(both, "c"), judged(Case("q", ("c",)), "c"), judged(NEGATIVE, "c")])
    rows = {row.name: (row.expected, row.picked, row.right, row.precision, row.recall) for row in measured.per_skill}
    assert rows == {"a": (1, 0, 0, None, 0.0), "b": (1, 1, 1, 1.0, 1.0), "c": (1, 3, 1, 1 / 3, 1.0)}


def test_the_confusion_table_has_none_on_both_sides() -> None:
    measured = report([judged(POSITIVE), judged(POSITIVE, "c"), judged(NEGATIVE, "c"), judged(NEGATIVE)])
    assert [(cell.expected, cell.picked, cell.count) for cell in measured.confusion] == [
        ("", "", 1), ("", "c", 1), ("a", "", 1), ("a", "c", 1),
    ]  # fmt: skip


_names = st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(tuple)
_cases = st.builds(Case, st.just("q"), _names, _names)
_outcomes = st.lists(
    st.one_of(
        st.builds(
            lambda case, ranking, found: judge(case, ranking, found=found),
            _cases,
            st.lists(st.sampled_from(NAMES), unique=True),
            st.booleans(),
        ),
        _cases.map(metrics.failed),
    ),
    max_size=12,
)


def rates(measured: metrics.Report) -> tuple[float | None, ...]:
    return measured.p_at_1, measured.mrr, measured.recall_at_5, measured.false_triggers


@law
@given(_outcomes)
def test_rates_are_shares_and_grow_from_p_at_1_to_recall(outcomes: list[Outcome]) -> None:
    measured = report(outcomes)
    assert all(rate is None or 0 <= rate <= 1 for rate in rates(measured))
    if measured.p_at_1 is not None and measured.mrr is not None and measured.recall_at_5 is not None:
        assert measured.p_at_1 <= measured.mrr <= measured.recall_at_5
    assert sum(measured.verdicts.values()) == measured.cases == len(outcomes)


@law
@given(_outcomes, st.randoms(use_true_random=False))
def test_the_order_of_cases_changes_no_rate(outcomes: list[Outcome], chance: random.Random) -> None:
    shuffled = list(outcomes)
    chance.shuffle(shuffled)
    before, after = report(outcomes), report(shuffled)
    assert (rates(before), before.per_skill, before.confusion) == (rates(after), after.per_skill, after.confusion)


@law
@given(_outcomes)
def test_a_correct_case_lowers_no_rate_and_a_miss_raises_none(outcomes: list[Outcome]) -> None:
    before = report(outcomes)
    better, worse = (report([*outcomes, one]) for one in (judged(POSITIVE, "a"), judged(POSITIVE)))
    for low, middle, high in zip(rates(worse)[:3], rates(before)[:3], rates(better)[:3], strict=True):
        assert middle is None or (low is not None and high is not None and low <= middle <= high)


@law
@given(_outcomes)
def test_cases_without_an_expected_skill_change_only_false_triggers(outcomes: list[Outcome]) -> None:
    before, after = report(outcomes), report([*outcomes, judged(NEGATIVE), judged(NEGATIVE, "a")])
    assert rates(before)[:3] == rates(after)[:3]
    assert after.negatives == before.negatives + 2


@law
@given(_outcomes)
def test_skills_and_confusion_add_up(outcomes: list[Outcome]) -> None:
    measured = report(outcomes)
    right = sum(cell.count for cell in measured.confusion if cell.expected and cell.expected == cell.picked)
    assert right == sum(skill.right for skill in measured.per_skill) == measured.verdicts["correct_trigger"]
    assert sum(skill.expected for skill in measured.per_skill) == measured.positives
