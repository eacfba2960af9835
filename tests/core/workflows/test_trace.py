"""The trace: from which steps a value comes."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import APPEND, DEEP_MERGE, OVERWRITE, REPLACE
from registry.core.workflows.trace import TraceStep, TraceWrite, lineage, traced
from tests import effort


def step(
    path: str, reads: str = "", writes: str = "", strategy: str = OVERWRITE, read_after: int | None = None
) -> TraceStep:
    """Return a completed step. Targets may be written `target<source`."""
    written = tuple(
        TraceWrite(target, strategy, source) for target, _, source in (one.partition("<") for one in writes.split())
    )
    return TraceStep(path, "text.any", "completed", tuple(reads.split()), written, read_after)


def names(trace: list[TraceStep], target: str, scope: str = "") -> list[str]:
    return [found.path for found in lineage(trace, target, scope)]


def test_steps_contribute_through_what_others_read() -> None:
    trace = [
        step("load", "inputs.url", "vars.text"),
        step("other", "inputs.url", "vars.other"),
        step("count", "vars.text", "vars.count"),
        step("report", "vars.count", "outputs.report"),
        step("after", "outputs.report", "vars.after"),
    ]
    assert names(trace, "outputs.report") == ["load", "count", "report"]
    assert names(trace, "vars.other") == ["other"]


def test_nothing_contributes_to_what_nobody_wrote() -> None:
    trace = [step("a", "inputs.x", "vars.x"), step("skipped", "vars.x")]
    for target in ("vars.y", "inputs.x", "vars.xx", "outputs.x", "item", "any text"):
        assert lineage(trace, target) == ()
    assert lineage([], "vars.x") == ()


def test_a_part_and_the_whole_contribute_to_each_other() -> None:
    trace = [
        step("whole", "", "vars.a", REPLACE),
        step("part", "", "vars.a.b"),
        step("beside", "", "vars.a.c"),
        step("reader", "vars.a.b[0].x", "vars.out"),
    ]
    assert names(trace, "vars.a") == ["whole", "part", "beside"]
    assert names(trace, "vars.*") == ["whole", "part", "beside", "reader"]
    assert names(trace, "vars.a.b.c") == ["part"]
    assert names(trace, "vars.a.d") == ["whole"]
    assert names(trace, "vars['out']") == ["part", "reader"]


def test_all_writers_of_a_list_contribute() -> None:
    trace = [step(f"s{number}", "", "working.risks", APPEND) for number in range(3)]
    assert names(trace, "working.risks") == ["s0", "s1", "s2"]
    assert names([*trace, step("merge", "", "vars.a", DEEP_MERGE)], "working.risks[-1]") == ["s0", "s1", "s2"]


def test_earlier_writers_of_a_replaced_target_do_not_contribute() -> None:
    trace = [
        step("first", "", "vars.a"),
        step("reader", "vars.a", "vars.b"),
        step("second", "", "vars.a", REPLACE),
        step("more", "", "vars.a", APPEND),
    ]
    assert names(trace, "vars.a") == ["second", "more"]
    assert names(trace, "vars.b") == ["first", "reader"]


def test_an_iteration_that_reads_its_own_target_keeps_the_earlier_ones() -> None:
    trace = [step("start", "", "vars.n"), *(step(f"loop#{number}", "vars.n", "vars.n", REPLACE) for number in (1, 2))]
    assert names(trace, "vars.n") == ["start", "loop#1", "loop#2"]


def test_a_step_has_read_what_was_recorded_before_it_started() -> None:
    trace = [
        step("first", "", "vars.a"),
        step("second", "", "vars.a", REPLACE),
        step("early", "vars.a", "vars.early", read_after=1),
        step("late", "vars.a", "vars.late", read_after=2),
    ]
    assert names(trace, "vars.early") == ["first", "early"]
    assert names(trace, "vars.late") == ["second", "late"]


def test_a_contribution_names_only_the_writes_that_matter() -> None:
    trace = [step("load", "inputs.url frame.goal", "vars.text<text vars.size<meta.size")]
    (found,) = lineage(trace, "vars.size")
    assert found.writes == (TraceWrite("vars.size", OVERWRITE, "meta.size"),)
    assert found.as_json() == {
        "path": "load",
        "capability": "text.any",
        "reads": ["inputs.url", "frame.goal"],
        "writes": [{"target": "vars.size", "strategy": OVERWRITE, "source": "meta.size"}],
    }


class TestNestedSkills:
    TRACE = (
        step("prepare", "inputs.a", "vars.x"),
        step("inner/clean", "inputs.text", "vars.x"),
        step("inner/noise", "", "vars.y"),
        step("inner/deep/write", "vars.q", "outputs.z"),
        step("inner/deep", "vars.x", "outputs.out<z"),
        step("inner/count", "vars.y", "outputs.count"),
        step("inner", "vars.x", "vars.result<out"),
    )

    def test_steps_of_a_nested_skill_contribute_to_what_it_produced(self) -> None:
        expected = ["prepare", "inner/clean", "inner/deep/write", "inner/deep", "inner"]
        assert names(list(self.TRACE), "vars.result") == expected

    def test_each_skill_has_its_own_namespaces(self) -> None:
        assert names(list(self.TRACE), "vars.x") == ["prepare"]
        assert names(list(self.TRACE), "vars.x", "inner") == ["inner/clean"]
        assert names(list(self.TRACE), "vars.y") == []

    def test_every_item_contributes(self) -> None:
        items = [
            one
            for number in range(3)
            for one in (
                step(f"each[{number}]/a", "inputs.x", "vars.a"),
                step(f"each[{number}]/b", "vars.a", "outputs.out"),
            )
        ]
        other = step("each2/b", "", "outputs.out")
        trace = [*items, other, step("each", "vars.docs", "vars.all<out")]
        assert names(trace, "vars.all") == [*(item.path for item in items), "each"]
        assert names([step("m@text.pick/a", "", "outputs.out"), step("m", "", "vars.m<out")], "vars.m") == [
            "m@text.pick/a",
            "m",
        ]


def test_a_trace_step_is_json() -> None:
    trace_step = TraceStep("a[1]", "text.any", "failed", ("inputs.x",), attempts=3, started_at="now", latency_ms=5)
    assert json.loads(json.dumps(trace_step.as_json())) == {
        "path": "a[1]",
        "capability": "text.any",
        "state": "failed",
        "reads": ["inputs.x"],
        "writes": [],
        "read_after": None,
        "attempts": 3,
        "started_at": "now",
        "ended_at": "",
        "latency_ms": 5,
    }


def test_writes_are_traced_without_their_values() -> None:
    assert traced([Write("vars.a", "secret", APPEND, True, "text")]) == (TraceWrite("vars.a", APPEND, "text"),)


TARGETS = st.sampled_from(["vars.a", "vars.a.b", "vars.a.b.c", "vars.d", "working.risks", "outputs.x"])
STEPS = st.lists(
    st.tuples(
        st.lists(TARGETS, max_size=2),
        st.lists(st.builds(TraceWrite, TARGETS, st.sampled_from([REPLACE, APPEND, DEEP_MERGE])), max_size=2),
        st.none() | st.integers(0, 6),
    ),
    max_size=7,
)


def by_definition(trace: list[TraceStep], target: tuple[str, ...], before: int) -> set[int]:
    """Return the positions of the steps that contribute to what a target was after the first `before` steps."""
    found: set[int] = set()
    for position in range(before - 1, -1, -1):
        step = trace[position]
        paths = [(tuple(write.target.split(".")), write.strategy) for write in step.writes]
        if any(path[: len(target)] == target[: len(path)] for path, _ in paths):
            found.add(position)
            seen = position if step.read_after is None else min(position, step.read_after)
            for read in step.reads:
                found |= by_definition(trace, tuple(read.split(".")), seen)
        if any(strategy == REPLACE and target[: len(path)] == path for path, strategy in paths):
            break
    return found


@settings(max_examples=effort.examples(150))
@given(STEPS, TARGETS)
def test_the_lineage_is_the_one_of_the_definition(
    steps: list[tuple[list[str], list[TraceWrite], int | None]], target: str
) -> None:
    trace = [
        TraceStep(str(number), "c", "completed", tuple(reads), tuple(writes), after)
        for number, (reads, writes, after) in enumerate(steps)
    ]
    expected = by_definition(trace, tuple(target.split(".")), len(trace))
    assert [int(found.path) for found in lineage(trace, target)] == sorted(expected)
