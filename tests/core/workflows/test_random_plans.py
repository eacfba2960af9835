"""Random plans run like a simple interpreter says, whatever the order in which their calls end."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows.plan import Retry, Step
from registry.core.workflows.values import Json
from tests.core.workflows.engine import Engine, capability, engine, fails
from tests.core.workflows.reference import interpret


def add(given: dict[str, Json]) -> Json:
    return {"n": 1 + sum(value or 0 for value in given["from"])}


def random_steps(chance: random.Random, count: int, failing: float, skipped: float) -> list[Step]:
    steps = []
    for number in range(count):
        needed = tuple(f"s{each}" for each in range(number) if chance.random() < 3 / (number + 1))
        uses = "fail" if chance.random() < failing else "add"
        condition = "1 == 2" if chance.random() < skipped else ""
        steps.append(
            Step(
                f"s{number}", uses, {"from": [f"vars.{each}" for each in needed]}, {"n": f"vars.s{number}"}, needed,
                condition=condition, retry=Retry(2, 0) if chance.random() < 0.3 else None,
            )
        )  # fmt: skip
    return steps


def run_of(steps: list[Step], chance: random.Random, **options: object) -> Engine:
    functions = {"add": add, "fail": fails(retryable=True)}
    return engine(*steps, functions=functions, shuffle=chance, **options)


@settings(deadline=None, max_examples=60)
@given(st.integers(), st.integers(1, 40), st.sampled_from([0, 0.1]), st.sampled_from([0, 0.2]), st.booleans())
def test_a_random_plan_runs_like_the_reference(
    seed: int, count: int, failing: float, skipped: float, fail_fast: bool
) -> None:
    chance = random.Random(seed)
    steps = random_steps(chance, count, failing, skipped)
    run = run_of(steps, chance, fail_fast=fail_fast, max_workers=chance.randint(1, 9)).run()
    expected = interpret(
        run.plans[""],
        frozenset(step.id for step in steps if step.uses == "fail"),
        frozenset(step.id for step in steps if step.condition),
        fail_fast=fail_fast,
    )
    for id_, result in expected.items():
        row = run.rows.get(id_)
        if isinstance(result, int):
            assert row is not None and row.output == {"n": result}
        elif result == "blocked":
            assert row is None or (row.state == "skipped" and row.blocked)
        elif result in ("skipped", "failed") and row is not None:
            assert row.state == result
    assert len(run.called) == len(set(run.called)) + sum(run.rows[p].attempts - 1 for p in set(run.called))
    begun = [run.rows[path] for path in run.called]
    for row in begun:
        for needed in run.plans[""].step(row.step).depends_on:
            assert (run.rows[needed].ended or 0) < row.began


@settings(deadline=None, max_examples=30)
@given(st.integers(), st.integers(1, 30))
def test_records_give_the_same_state_again(seed: int, count: int) -> None:
    chance = random.Random(seed)
    run = run_of(random_steps(chance, count, 0.05, 0.2), chance, fail_fast=False).run()
    again = run.open(run.rows.values())
    assert again.tree.root.state.digest == run.scheduler.tree.root.state.digest
    assert again.decide(run.now).changed == ()


@pytest.mark.parametrize("seed", range(5))
def test_three_hundred_random_steps(seed: int) -> None:
    chance = random.Random(seed)
    steps = random_steps(chance, 300, 0.02, 0.1)
    run = run_of(steps, chance, fail_fast=False, max_workers=16).run()
    states = [run.state(step.id) for step in steps]
    assert len(states) == 300 == sum(states.count(state) for state in ("completed", "failed", "skipped"))


def test_parallel_writers_to_one_list_lose_nothing() -> None:
    steps = [
        Step(f"s{number}", "say", {"n": number}, {"n": "working.messages"}, (), merge_strategy="append")
        for number in range(40)
    ]
    run = engine(
        *steps, functions={"say": lambda given: {"n": [given["n"]]}}, shuffle=random.Random(1),
        capabilities={"say": capability("say")},
    ).run()  # fmt: skip
    assert sorted(run.scheduler.tree.root.state.read(("working", "messages"))) == list(range(40))
