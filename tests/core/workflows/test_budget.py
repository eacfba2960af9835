"""The work of a run: it is divided into decisions, and it has a limit."""

import json

import pytest

from registry.core.workflows.budget import STEPS_AT_ONCE, WORK_AT_ONCE, Budget
from registry.core.workflows.failures import Code
from registry.core.workflows.plan import Foreach, Step
from registry.core.workflows.records import RunState
from registry.core.workflows.run_tree import MOST_VALUES
from registry.core.workflows.tasks import Decision
from registry.core.workflows.values import Json
from tests.core.workflows.engine import Engine, engine

_TEXTS = 100_000


def many(given: dict[str, Json]) -> Json:
    return {"value": ["ab"] * _TEXTS}


def empty_lists(given: dict[str, Json]) -> Json:
    return json.loads(f'{{"value": [{",".join(["[]"] * 300_000)}]}}')


def skipped(count: int) -> Engine:
    return engine(*(Step(f"s{number}", "echo", condition="false") for number in range(count)), functions={"echo": many})


def costly(condition: str, count: int = 500) -> Engine:
    """Return a run whose conditions all compare the same large value."""
    steps = [Step(f"s{number}", "many", {}, {}, ("make",), condition=condition) for number in range(1, count)]
    return engine(Step("make", "many", {}, {"value": "vars.all"}), *steps, functions={"many": many})


def decisions(run: Engine) -> list[tuple[Decision, int]]:
    """Work until the run ends. Return its decisions with the work of each."""
    found = []
    while run.end is None:
        before = run.scheduler.budget.work
        found.append((run.decide(), run.scheduler.budget.work - before))
        for task in run.pending:
            run.scheduler.report(task.path, run.perform(task), run.now)
        run.pending = []
    return found


def test_steps_that_need_no_call_are_divided_into_decisions() -> None:
    run = skipped(2 * STEPS_AT_ONCE + 1)
    found = [decision for decision, _ in decisions(run)]
    assert [len(decision.changed) for decision in found] == [STEPS_AT_ONCE, STEPS_AT_ONCE, 1]
    assert [decision.goes_on for decision in found] == [True, True, False]
    assert run.end is not None and run.end.state is RunState.COMPLETED


def test_a_decision_that_fits_does_not_go_on() -> None:
    run = skipped(STEPS_AT_ONCE - 1)
    assert [decision.goes_on for decision, _ in decisions(run)] == [False]


def test_a_paused_run_does_not_go_on() -> None:
    run = skipped(2 * STEPS_AT_ONCE)
    assert run.decide().goes_on
    run.scheduler.pause()
    decision = run.decide()
    assert not decision.goes_on
    assert not decision.changed


def test_a_run_whose_conditions_compare_too_much_ends() -> None:
    run = costly("'x' in vars.all")
    run.scheduler.budget = Budget(most_work=1_500_000)
    one = 2 * _TEXTS + 10  # a condition compares each text once or twice
    assert all(work <= WORK_AT_ONCE + one for _, work in decisions(run))
    assert run.end is not None and run.end.state is RunState.FAILED
    assert run.end.failure is not None and run.end.failure.code is Code.LIMIT
    assert "more than 1,500,000 values. Divide the work into several runs." in run.end.failure.message
    assert run.scheduler.budget.work <= 1_500_000 + one


@pytest.mark.parametrize(("condition", "calls"), [("'x' in vars.all", 1), ("'ab' in vars.all", 5)])
def test_the_same_conditions_within_the_limit_change_nothing(condition: str, calls: int) -> None:
    run = costly(condition, count=5)
    decisions(run)
    assert run.end is not None and run.end.state is RunState.COMPLETED
    assert len(run.called) == calls


def test_a_run_with_too_many_values_in_its_outputs_says_so() -> None:
    step = Step("each", "lists", {}, {}, foreach=Foreach("inputs.items", "item", "index"))
    run = engine(step, functions={"lists": empty_lists}, inputs={"items": list(range(9))}).run()
    assert run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.LIMIT
    assert f"{MOST_VALUES:,} values. Divide the work into several runs." in run.end.failure.message
    assert run.scheduler.tree.kept.values <= MOST_VALUES


def test_values_count_again_after_a_crash() -> None:
    step = Step("each", "lists", {}, {}, foreach=Foreach("inputs.items", "item", "index"))
    run = engine(step, functions={"lists": empty_lists}, inputs={"items": [1, 2]}, max_workers=1)
    run.decide()
    run.scheduler.report("each[0]", run.perform(run.pending.pop()), run.now)
    run.decide()
    kept = run.scheduler.tree.kept
    assert kept.values > 300_000
    assert run.crash().scheduler.tree.kept.values >= kept.values
