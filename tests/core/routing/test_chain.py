"""The chain leaves out links that fail, says so, and answers with the others."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import chain
from registry.core.routing.fusion import Fused
from registry.core.routing.link import Matches, Rows, Unavailable
from registry.lib.steps import StepRunner

ROWS: Rows = np.array([0, 2, 5], dtype=np.intp)
runner = StepRunner(4)


@dataclass
class FakeLink:
    name: str
    answer: Callable[[], Any]
    cost: int = 1

    def rank(self, question: str, rows: Rows) -> Any:
        return self.answer()


@dataclass
class Asked:
    """A link that notes the rows it is asked about, and scores all of them."""

    name: str
    rows: list[list[int]]
    cost: int = 1

    def rank(self, question: str, rows: Rows) -> Matches:
        self.rows.append(rows.tolist())
        return Matches(rows, np.ones(len(rows)))


def matches(scores: dict[int, float], certain: bool = False) -> Matches:
    return Matches(np.array(list(scores), np.intp), np.array(list(scores.values()), np.float64), certain=certain)


def add(found: Mapping[str, Matches]) -> Fused:
    total: dict[int, float] = {}
    for each in found.values():
        for row, score in zip(each.rows.tolist(), each.scores.tolist(), strict=True):
            total[row] = total.get(row, 0.0) + score
    order = sorted(total, key=lambda row: (-total[row], row))
    return Fused(np.array(order, np.intp), np.array([total[row] for row in order]), {})


def run(*links: Any, rows: Rows = ROWS, seconds: float = 60.0) -> chain.Chained:
    return chain.run(links, "question", rows, fuse=add, runner=runner, seconds=seconds)


GOOD = FakeLink("good", lambda: matches({2: 1.0, 5: 3.0}))


def raising(error: BaseException) -> Any:
    raise error


def scored(rows: Any, scores: Any) -> Matches:
    return Matches(rows, scores)


BAD = {
    "nothing": (lambda: None, "invalid", "NoneType"),
    "names": (lambda: ["refunds"], "invalid", "list"),
    "nan": (lambda: matches({2: float("nan")}), "invalid", "not a number"),
    "infinity": (lambda: matches({2: float("inf")}), "invalid", "infinite"),
    "minus infinity": (lambda: matches({2: float("-inf")}), "invalid", "infinite"),
    "huge": (lambda: matches({2: 1e300}), "invalid", "beyond"),
    "booleans": (lambda: scored(np.array([2]), np.array([True])), "invalid", "scores are not numbers"),
    "a boolean among numbers": (lambda: scored([2, 5], [0.5, True]), "invalid", "not all numbers"),
    "texts": (lambda: scored([2], ["0.5"]), "invalid", "not all numbers"),
    "objects": (lambda: scored(np.array([2]), np.array([0.5], object)), "invalid", "not numbers"),
    "complex numbers": (lambda: scored(np.array([2]), np.array([1j])), "invalid", "not numbers"),
    "a row not given": (lambda: matches({1: 1.0}), "invalid", "not given"),
    "a row beyond the index": (lambda: matches({6: 1.0}), "invalid", "not given"),
    "a negative row": (lambda: matches({-1: 1.0}), "invalid", "not given"),
    "a row twice": (lambda: scored(np.array([2, 2]), np.array([1.0, 2.0])), "invalid", "twice"),
    "rows as floats": (lambda: scored(np.array([2.0]), np.array([1.0])), "invalid", "rows are not numbers"),
    "more rows than scores": (lambda: scored(np.array([2, 5]), np.array([1.0])), "invalid", "2 rows and 1 scores"),
    "a table": (lambda: scored(np.array([[2]]), np.array([[1.0]])), "invalid", "not numbers"),
    "certain is a number": (lambda: Matches(ROWS, np.ones(3), certain=1), "invalid", "certain"),  # type: ignore[arg-type]
    "raises": (lambda: raising(ValueError("secret")), "failed", "It raised ValueError."),
    "recursion": (lambda: raising(RecursionError()), "failed", "It raised RecursionError."),
    "out of memory": (lambda: raising(MemoryError()), "failed", "It raised MemoryError."),
    "unavailable": (lambda: raising(Unavailable("No package.")), "unavailable", "No package."),
}


@pytest.mark.parametrize(("answer", "status", "detail"), BAD.values(), ids=BAD)
def test_a_link_that_answers_badly_is_reported_and_left_out(
    answer: Callable[[], Any], status: str, detail: str
) -> None:
    chained = run(FakeLink("bad", answer), GOOD)
    assert chained.fused.rows.tolist() == [5, 2]
    assert list(chained.by_link) == ["good"]
    assert [(report.name, report.status) for report in chained.reports] == [("bad", status), ("good", "ok")]
    assert detail in chained.reports[0].detail
    assert "secret" not in chained.reports[0].detail


def test_a_link_that_hangs_is_reported_and_left_out() -> None:
    release = threading.Event()
    slow = FakeLink("hanging in the chain", lambda: release.wait() and matches({0: 9.0}))
    try:
        first, second = (run(slow, GOOD, seconds=0.2) for _ in range(2))
    finally:
        release.set()
    assert [report.status for report in first.reports] == ["timeout", "ok"]
    assert [report.status for report in second.reports] == ["unavailable", "ok"]
    assert first.fused.rows.tolist() == second.fused.rows.tolist() == [5, 2]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_passes(interrupt: type[BaseException]) -> None:
    with pytest.raises(interrupt):
        run(FakeLink("bad", lambda: raising(interrupt())), GOOD)


def test_a_link_that_is_certain_answers_alone() -> None:
    asked: list[str] = []
    later = FakeLink("later", lambda: asked.append("later"))
    chained = run(GOOD, FakeLink("sure", lambda: matches({0: 1.0}, certain=True)), later)
    assert (chained.fused.rows.tolist(), chained.answered_by, asked) == ([0], "sure", [])
    assert [report.status for report in chained.reports] == ["ok", "ok", "skipped"]


def test_without_any_answer_nothing_is_found() -> None:
    chained = run(FakeLink("bad", lambda: None), FakeLink("worse", lambda: raising(ValueError())))
    assert chained.fused.rows.tolist() == []


def test_links_are_asked_about_the_shortlist() -> None:
    asked: list[list[int]] = []
    link = Asked("asked", asked)
    chained = chain.run([link, link], "question", ROWS, fuse=add, runner=runner, shorten=lambda rows: rows[1:])
    assert asked == [[2, 5], [2, 5]]
    assert chained.fused.rows.tolist() == [2, 5]


def test_a_link_that_names_a_skill_beside_the_shortlist_is_left_out() -> None:
    link = FakeLink("beside", lambda: matches({0: 1.0}))
    chained = chain.run([link], "question", ROWS, fuse=add, runner=runner, shorten=lambda rows: rows[1:])
    assert chained.reports[0].status == "invalid"


def test_without_a_shortlist_links_are_asked_about_all_skills() -> None:
    asked: list[list[int]] = []
    link = Asked("asked", asked)
    chained = chain.run(
        [link], "question", ROWS, fuse=add, runner=runner, shorten=lambda rows: raising(ValueError("no estimate"))
    )
    assert asked == [[0, 2, 5]]
    assert chained.reports[0].status == "ok"


def test_a_shortlist_that_hangs_costs_the_first_link() -> None:
    release = threading.Event()
    asked: list[list[int]] = []
    first, second = Asked("waits for the shortlist", asked), Asked("goes on", asked)
    try:
        chained = chain.run(
            [first, second],
            "question",
            ROWS,
            fuse=add,
            runner=runner,
            shorten=lambda rows: rows[: release.wait()],
            seconds=0.2,
        )
    finally:
        release.set()
    assert [report.status for report in chained.reports] == ["timeout", "ok"]
    assert asked[0] == [0, 2, 5]


def test_a_shortlist_that_is_ready_too_late_is_not_used() -> None:
    """The links that did not wait for it score the same rows, and their matches are compared with these."""
    release, late = threading.Event(), threading.Event()
    asked: list[list[int]] = []

    def shorten(rows: Rows) -> Rows:
        release.wait()
        return rows[:1]

    class Late:
        name, cost = "makes the shortlist", 1

        def rank(self, question: str, rows: Rows) -> Matches:
            late.set()
            return Matches(rows, np.ones(len(rows)))

    class Meanwhile(Asked):
        def rank(self, question: str, rows: Rows) -> Matches:
            release.set()
            assert late.wait(60)
            return super().rank(question, rows)

    links = [Late(), Meanwhile("goes on", asked), Asked("last", asked)]
    chained = chain.run(links, "question", ROWS, fuse=add, runner=runner, shorten=shorten, seconds=0.5)
    assert [report.status for report in chained.reports] == ["timeout", "ok", "ok"]
    assert asked == [[0, 2, 5], [0, 2, 5]]


def test_rows_in_any_order_are_fused() -> None:
    assert run(FakeLink("backwards", lambda: matches({5: 1.0, 0: 3.0, 2: 2.0}))).fused.rows.tolist() == [0, 2, 5]


def test_no_rows_are_no_matches() -> None:
    empty = np.empty(0, np.intp)
    assert run(GOOD, rows=empty).reports[0].status == "invalid"
    assert run(FakeLink("none", lambda: matches({})), rows=empty).fused.rows.tolist() == []


def test_the_last_link_reorders_only_the_best() -> None:
    rows = np.arange(30, dtype=np.intp)
    chained = run(FakeLink("all", lambda: matches({row: 30.0 - row for row in range(30)})), rows=rows)
    asked: list[list[int]] = []

    class Last:
        name, cost = "last", 10

        def rank(self, question: str, rows: Rows) -> Matches:
            asked.append(rows.tolist())
            return matches({19: 100.0})

    reordered = chain.reorder(Last(), "question", chained, fuse=add, runner=runner, seconds=60.0)
    assert asked == [list(range(20))]
    assert reordered.fused.rows.tolist()[:3] == [19, 0, 1]
    assert [report.name for report in reordered.reports] == ["all", "last"]


def test_the_last_link_gets_the_best_rows_first_and_scores_them_in_any_order() -> None:
    chained = run(FakeLink("all", lambda: matches({0: 1.0, 2: 2.0, 5: 3.0})))
    asked: list[list[int]] = []
    reordered = chain.reorder(Asked("last", asked), "question", chained, fuse=add, runner=runner, seconds=60.0)
    assert asked == [[5, 2, 0]]
    assert [report.status for report in reordered.reports] == ["ok", "ok"]
    assert reordered.fused.scores.tolist() == [4.0, 3.0, 2.0]


def test_the_last_link_is_left_out_like_any_other() -> None:
    chained = run(GOOD)
    reordered = chain.reorder(
        FakeLink("last", lambda: matches({0: 1.0})), "", chained, fuse=add, runner=runner, seconds=60
    )
    assert reordered.fused.rows.tolist() == [5, 2]
    assert [report.status for report in reordered.reports] == ["ok", "invalid"]


def test_the_last_link_is_skipped_after_a_link_that_was_certain() -> None:
    chained = run(FakeLink("sure", lambda: matches({0: 1.0}, certain=True)))
    reordered = chain.reorder(GOOD, "", chained, fuse=add, runner=runner, seconds=60)
    assert [report.status for report in reordered.reports] == ["ok", "skipped"]


def test_a_reason_that_fails_is_empty() -> None:
    assert chain.reason_for(Matches(ROWS, np.ones(3), lambda row: str(1 // 0)), 2) == ""


numbers = (
    st.floats(allow_nan=True, allow_infinity=True) | st.booleans() | st.integers() | st.text(max_size=2) | st.none()
)


@given(st.lists(st.integers(-3, 8) | st.booleans(), max_size=6), st.lists(numbers, max_size=6))
def test_only_finite_scores_of_given_rows_are_fused(rows: list[Any], scores: list[Any]) -> None:
    """The chain answers to everything that a link may return, and names only rows that it was given."""
    chained = run(FakeLink("odd", lambda: scored(rows, scores)), GOOD)
    assert set(chained.fused.rows.tolist()) <= set(ROWS.tolist())
    assert np.isfinite(chained.fused.scores).all()
    assert chained.reports[1].status == "ok"
