"""The gate: limits without rounding, and a comparison with the baseline over the cases that both have."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import gate, metrics
from registry.core.routing.gate import Baseline, Limits, verdict
from registry.core.routing.golden import Case, case_key
from registry.core.routing.metrics import Outcome, StaleCase, judge, report
from tests.core.strategies import law

WIDE = Limits(0, 0, 1, 1)


def right(number: int, start: int = 0) -> list[Outcome]:
    return [judge(Case(f"right {start + one}", ("a",)), ("a",), found=True) for one in range(number)]


def at(rank: int, query: str = "late") -> Outcome:
    ranking = [*"bcdef"[: rank - 1], "a"]
    return judge(Case(query, ("a",)), ranking if rank else (), found=True)


def none(query: str, *found: str) -> Outcome:
    return judge(Case(query), found, found=True)


def baseline_of(outcomes: list[Outcome]) -> Baseline:
    return Baseline({case_key(one.case): (one.verdict, one.rank) for one in outcomes})


def test_a_good_run_passes_with_the_default_limits() -> None:
    assert verdict(report([*right(8), none("x")]), Limits()) == gate.Verdict(True)


@pytest.mark.parametrize(
    ("outcomes", "passes"),
    [
        (right(16) + [at(2, str(n)) for n in range(4)], True),  # P@1 is exactly 0.80
        (right(15) + [at(2, str(n)) for n in range(4)], False),
        (right(17) + [at(0, str(n)) for n in range(3)], True),  # MRR is exactly 0.85
        (right(16) + [at(0, str(n)) for n in range(3)], False),
        (right(8) + [none("f", "a")] + [none(str(n)) for n in range(4)], True),  # false triggers are exactly 0.20
        (right(8) + [none("f", "a")] + [none(str(n)) for n in range(3)], False),
        (right(8), True),
        (right(7), False),
    ],
)
def test_a_rate_at_its_limit_passes_and_one_just_below_fails(outcomes: list[Outcome], passes: bool) -> None:
    assert verdict(report(outcomes), Limits()).passed is passes


def test_a_reason_shows_the_digits_that_make_the_difference() -> None:
    measured = replace(report(right(8)), p_at_1=0.79996)
    (reason,) = verdict(measured, Limits()).reasons
    assert reason == "P@1 is 0.79996, and at least 0.80000 is needed."


def test_every_reason_is_given_at_once() -> None:
    outcomes = [at(0), none("f", "a"), metrics.failed(Case("e", ("a",)))]
    reasons = " ".join(verdict(report(outcomes), Limits()).reasons)
    for part in (
        "3 test questions could be judged, and at least 8 are needed.",
        "P@1 is 0.000",
        "MRR is 0.000",
        "false triggers is 1.000",
        "1 test question could",
    ):
        assert part in reasons


def test_no_cases_give_no_verdict() -> None:
    stale = StaleCase(Case("q", ("gone",)), ("gone",), "There is no skill gone.")
    assert verdict(report([]), WIDE).passed is None
    assert "1 test question cannot be judged" in verdict(report([], [stale]), WIDE).reasons[0]


def test_cases_without_an_expected_skill_alone_give_no_verdict() -> None:
    assert verdict(report([none(str(number)) for number in range(20)]), Limits()).passed is None


def test_one_right_answer_fewer_is_a_regression() -> None:
    before = baseline_of([*right(50), at(1)])
    after = verdict(report([*right(50), at(2)]), Limits(), before)
    assert after.passed is False
    assert after.reasons == (
        "Worse than the baseline: 50 of 51 test questions of both runs find the right skill. Before, 51 did.",
    )


def test_a_right_answer_may_be_lost_if_another_is_gained() -> None:
    before = baseline_of([*right(10), at(1, "x"), at(2, "y")])
    assert verdict(report([*right(10), at(2, "x"), at(1, "y")]), Limits(), before).passed


def test_one_false_trigger_more_is_a_regression() -> None:
    negatives = [none(str(number)) for number in range(20)]
    before = baseline_of([*right(10), *negatives, none("x")])
    after = verdict(report([*right(10), *negatives, none("x", "a")]), Limits(), before)
    assert after.reasons == (
        "Worse than the baseline: 1 false trigger in 31 test questions of both runs, and 0 before.",
    )
    assert verdict(report([*right(10), *negatives, none("y", "a")]), Limits(), before).passed


@pytest.mark.parametrize(("number", "passes"), [(1, True), (2, False)])
def test_mrr_may_fall_by_less_than_one_case(number: int, passes: bool) -> None:
    queries = [str(query) for query in range(number)]
    before = baseline_of([*right(40), *(at(2, query) for query in queries)])
    after = report([*right(40), *(at(0, query) for query in queries)])
    assert verdict(after, Limits(), before).passed is passes


def test_new_changed_and_stale_cases_are_no_regression() -> None:
    before = baseline_of([*right(10), at(1, "becomes stale")])
    changed = judge(Case("right 0", ("other",)), ("a",), found=True)
    assert verdict(report([*right(9, start=1), changed, at(0, "new")]), WIDE, before).passed


def test_an_acceptable_pick_is_no_regression() -> None:
    case = Case("q", ("a",), ("b",))
    before = baseline_of([*right(10), judge(case, ("a",), found=True)])
    assert verdict(report([*right(10), judge(case, ("b",), found=True)]), Limits(), before).passed


@law
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=10))
def test_a_run_is_never_worse_than_itself(rows: list[tuple[int, bool]]) -> None:
    outcomes = [at(rank, str(place)) for place, (rank, _) in enumerate(rows)]
    outcomes += [none(f"none {place}", *("a" * found)) for place, (_, found) in enumerate(rows)]
    assert verdict(report(outcomes), WIDE, baseline_of(outcomes)).passed
