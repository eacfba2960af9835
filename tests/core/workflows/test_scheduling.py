"""Which steps of a run begin, and what follows when they end."""

import pytest

from registry.core.workflows.failures import Code
from registry.core.workflows.plan import Foreach, Retry, Router, Scatter, Step, While
from registry.core.workflows.values import Field
from tests.core.workflows.engine import Engine, capability, engine, fails, plan


def echo(given: dict) -> dict:
    return {"value": given.get("value")}


def number(given: dict) -> dict:
    return {"value": given["value"] + 1}


def a_step(id_: str, *after: str, uses: str = "echo", value: object = None, target: str = "", **more: object) -> Step:
    output = {"value": target} if target else {}
    return Step(id_, uses, {"value": value}, output, after, **more)


def test_a_chain_runs_in_its_order() -> None:
    run = engine(a_step("a"), a_step("b", "a"), a_step("c", "b"), functions={"echo": echo}).run()
    assert run.called == ["a", "b", "c"]
    assert run.end is not None and run.end.state == "completed"


def test_a_value_goes_from_step_to_step() -> None:
    run = engine(
        a_step("a", uses="number", value=1, target="vars.n"),
        a_step("b", "a", uses="number", value="vars.n", target="outputs.n"),
        functions={"number": number},
        outputs=["n"],
    ).run()
    assert run.outputs == {"n": 3}


def test_independent_steps_run_together_up_to_the_limit() -> None:
    run = engine(*[a_step(f"s{number}") for number in range(5)], functions={"echo": echo}, max_workers=3).run()
    assert run.most_at_once == 3
    assert sorted(run.called) == [f"s{number}" for number in range(5)]


def test_a_diamond_joins_after_both_branches() -> None:
    run = engine(
        a_step("a"), a_step("b", "a"), a_step("c", "a"), a_step("d", "b", "c"), functions={"echo": echo}
    ).run()
    assert run.called[0] == "a" and run.called[-1] == "d"


def test_fail_fast_starts_nothing_more_and_names_the_blocked_steps() -> None:
    run = engine(
        a_step("a", uses="fail"), a_step("b", "a"), a_step("c", "b"), functions={"echo": echo, "fail": fails("Oh.")}
    ).run()
    assert run.called == ["a"]
    assert run.end is not None and run.end.state == "failed"
    assert run.end.failure is not None
    assert run.end.failure.message == "Step a failed: Oh. Blocked steps due to failed dependencies: b, c."


def test_without_fail_fast_dependants_are_skipped_and_others_run() -> None:
    run = engine(
        a_step("a", uses="fail"),
        a_step("b", "a"),
        a_step("c", "b"),
        a_step("d"),
        functions={"echo": echo, "fail": fails()},
        fail_fast=False,
    ).run()
    assert [run.state(path) for path in "abcd"] == ["failed", "skipped", "skipped", "completed"]
    assert run.rows["c"].reason == "Skipped: dependency failed"
    assert run.end is not None and run.end.state == "completed"


def test_a_required_output_that_is_missing_fails_the_run() -> None:
    run = engine(a_step("a"), functions={"echo": echo}, outputs=["n"]).run()
    assert run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.OUTPUT


def test_a_skipped_step_satisfies_its_dependants() -> None:
    run = engine(
        a_step("a", condition="1 == 2", target="vars.x", value="new"),
        a_step("b", "a", value="vars.x", target="outputs.x"),
        functions={"echo": echo},
    ).run()
    assert (run.state("a"), run.state("b")) == ("skipped", "completed")
    assert run.outputs == {"x": None}


def test_a_condition_that_cannot_be_evaluated_fails_the_step() -> None:
    run = engine(a_step("a", condition="vars.x ="), functions={"echo": echo}).run()
    assert run.rows["a"].failure is not None and run.rows["a"].failure.code is Code.EXPRESSION


def test_an_unreadable_input_fails_the_step_before_its_call() -> None:
    run = engine(a_step("a", value="vars.none"), functions={"echo": echo}).run()
    assert run.called == []
    assert run.rows["a"].failure is not None and run.rows["a"].failure.code is Code.INPUT


def test_a_second_write_to_a_target_fails_the_step() -> None:
    run = engine(
        a_step("a", target="vars.x", value=1), a_step("b", "a", target="vars.x", value=2), functions={"echo": echo}
    ).run()
    assert run.rows["b"].failure is not None and run.rows["b"].failure.code is Code.OUTPUT


@pytest.mark.parametrize(("attempts", "state"), [(2, "failed"), (3, "completed")])
def test_a_failed_call_is_retried(attempts: int, state: str) -> None:
    answers = iter([fails(retryable=True), fails(retryable=True), echo])
    step = a_step("a", uses="flaky", retry=Retry(attempts, backoff_seconds=5))
    run = engine(step, functions={"flaky": lambda given: next(answers)(given)}).run()
    assert run.end is not None and run.end.state == state
    assert run.rows["a"].attempts == attempts
    assert run.now == 1_000 + (5 if attempts == 2 else 5 + 10)


def test_a_call_without_retry_is_made_once() -> None:
    run = engine(a_step("a", uses="fail"), functions={"fail": fails(retryable=True)}).run()
    assert run.rows["a"].attempts == 1


def test_a_final_failure_is_not_retried() -> None:
    run = engine(a_step("a", uses="fail", retry=Retry()), functions={"fail": fails()}).run()
    assert run.rows["a"].attempts == 1


def test_a_router_chooses_what_the_step_uses() -> None:
    router = Router("inputs.kind", {"up": "number"}, "echo")
    step = a_step("a", uses="", value=1, target="outputs.n", router=router)
    for kind, result, matched in [("up", 2, "up"), ("other", 1, "__default__")]:
        run = engine(step, functions={"echo": echo, "number": number}, inputs={"kind": kind}).run()
        assert run.outputs == {"n": result}
        assert run.rows["a"].notes["router_matched"] == matched


def test_a_router_without_a_case_fails_the_step() -> None:
    run = engine(a_step("a", uses="", router=Router("inputs.kind", {"up": "echo"})), functions={"echo": echo}).run()
    assert run.rows["a"].failure is not None and run.rows["a"].failure.code is Code.ROUTER


def test_a_foreach_collects_a_list_for_each_field_in_the_order_of_the_items() -> None:
    step = a_step("a", uses="number", value="n", target="outputs.all", foreach=Foreach("inputs.items", "n", "at"))
    run = engine(step, functions={"number": number}, inputs={"items": [5, 1, 3]}, max_workers=2).run()
    assert run.outputs == {"all": [6, 2, 4]}
    assert run.called == ["a[0]", "a[1]", "a[2]"]
    assert run.rows["a"].notes == {"foreach_count": 3}


def test_an_empty_foreach_gives_empty_lists() -> None:
    step = a_step("a", value="item", target="outputs.all", foreach=Foreach("inputs.items"))
    run = engine(
        step, functions={"echo": echo}, capabilities={"echo": capability("echo", outputs=["value"])},
        inputs={"items": []},
    ).run()  # fmt: skip
    assert run.outputs == {"all": []}


@pytest.mark.parametrize("items", ["text", None, {"a": 1}])
def test_a_foreach_over_no_list_fails_the_step(items: object) -> None:
    run = engine(a_step("a", foreach=Foreach("inputs.items")), functions={"echo": echo}, inputs={"items": items}).run()
    assert run.rows["a"].failure is not None and run.rows["a"].failure.code is Code.EXPRESSION


def test_an_item_that_fails_fails_the_foreach_and_starts_no_other_item() -> None:
    step = a_step("a", uses="fail", foreach=Foreach("inputs.items"))
    run = engine(step, functions={"fail": fails("No.")}, inputs={"items": [1, 2, 3]}, max_workers=1).run()
    assert run.called == ["a[0]"]
    assert run.rows["a"].reason == "a[0]: No."


def test_a_while_repeats_until_its_condition_is_false() -> None:
    first = a_step("zero", value=0, target="vars.n")
    loop = a_step("a", "zero", uses="number", value="vars.n", target="vars.n", while_=While("vars.n < 3", 10))
    loop = Step(**{**{name: getattr(loop, name) for name in loop.__slots__}, "merge_strategy": "replace"})
    last = a_step("b", "a", value="vars.n", target="outputs.n")
    run = engine(first, loop, last, functions={"echo": echo, "number": number}).run()
    assert run.outputs == {"n": 3}
    assert run.called == ["zero", "a#1", "a#2", "a#3", "b"]
    assert run.rows["a"].notes == {"while_iterations": 3, "while_exhausted": False}


def test_a_while_overwrites_its_own_target() -> None:
    loop = a_step("a", uses="count", target="vars.n", while_=While("vars.n < 2", 10))
    counted = iter(range(1, 10))
    run = engine(loop, functions={"count": lambda given: {"value": next(counted)}}).run()
    assert run.state("a") == "completed"


def test_a_while_ends_after_its_last_iteration() -> None:
    run = engine(a_step("a", while_=While("true", 4)), functions={"echo": echo}).run()
    assert run.called == ["a#1", "a#2", "a#3", "a#4"]
    assert run.rows["a"].notes == {"while_iterations": 4, "while_exhausted": True}


def scatter(merge: str, *names: str, target: str) -> Step:
    return Step("a", "", {"value": 1}, {target: "outputs.all"}, scatter=Scatter(names, merge))


def test_a_scatter_collects_the_outputs_under_addressable_names() -> None:
    step = scatter("collect", "x.up", "x.same", target="x_up.value")
    run = engine(step, functions={"x.up": number, "x.same": echo}).run()
    assert run.outputs == {"all": 2}
    assert sorted(run.called) == ["a@x.same", "a@x.up"]


def test_a_scatter_goes_on_without_the_members_that_failed() -> None:
    step = scatter("collect", "x.up", "x.no", target="x_up.value")
    run = engine(step, functions={"x.up": number, "x.no": fails()}).run()
    assert run.outputs == {"all": 2}


@pytest.mark.parametrize("merge", ["collect", "concat_lists", "first_success"])
def test_a_scatter_fails_if_all_members_fail(merge: str) -> None:
    run = engine(scatter(merge, "x.a", "x.b", target="value"), functions={"x.a": fails(), "x.b": fails()}).run()
    assert run.state("a") == "failed"


def test_a_scatter_joins_lists_and_values() -> None:
    step = scatter("concat_lists", "x.list", "x.one", target="value")
    run = engine(step, functions={"x.list": lambda _: {"value": [1, 2]}, "x.one": lambda _: {"value": 3}}).run()
    assert run.outputs == {"all": [1, 2, 3]}


def test_a_scatter_takes_the_first_success() -> None:
    step = scatter("first_success", "x.no", "x.a", "x.b", target="value")
    functions = {"x.no": fails(), "x.a": lambda _: {"value": "a"}, "x.b": lambda _: {"value": "b"}}
    run = engine(step, functions=functions, max_workers=1).run()
    assert run.outputs == {"all": "a"}
    assert run.called == ["a@x.no", "a@x.a"]


def nested(depth: int) -> dict:
    step = Step("deeper", f"skill:s{depth + 1}")
    return {f"s{depth}": plan(step)}


def test_a_nested_skill_has_a_state_of_its_own() -> None:
    up = a_step("up", uses="number", value="inputs.n", target="outputs.m")
    inner = plan(up, inputs={"n": Field("n", "integer")}, outputs=["m"])
    outer = Step("call", "skill:inner", {"n": 4}, {"m": "outputs.result"})
    run = engine(outer, functions={"number": number}, nested={"inner": inner}).run()
    assert run.outputs == {"result": 5}
    assert run.called == ["call/up"]


def test_skills_cannot_be_nested_without_end() -> None:
    plans = {name: each for depth in range(15) for name, each in nested(depth).items()}
    run = engine(Step("deeper", "skill:s0"), functions={}, nested=plans).run()
    assert run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.LIMIT


def test_a_nested_skill_that_fails_is_retried_under_paths_of_its_own() -> None:
    answers = iter([fails(), echo])
    inner = plan(a_step("up", uses="flaky"))
    outer = Step("call", "skill:inner", retry=Retry(2))
    run = engine(outer, functions={"flaky": lambda given: next(answers)(given)}, nested={"inner": inner}).run()
    assert run.called == ["call/up", "call!2/up"]
    assert run.end is not None and run.end.state == "completed"


def test_nested_foreach_and_while_have_readable_paths() -> None:
    inner = plan(a_step("summarise", while_=While("true", 2)))
    outer = Step("review", "skill:inner", foreach=Foreach("inputs.items"))
    run = engine(outer, functions={"echo": echo}, nested={"inner": inner}, inputs={"items": [1, 2]}).run()
    assert sorted(run.called) == [
        "review[0]/summarise#1", "review[0]/summarise#2", "review[1]/summarise#1", "review[1]/summarise#2",
    ]  # fmt: skip


def test_the_deadline_ends_the_run() -> None:
    step = a_step("a", uses="fail", retry=Retry(5, backoff_seconds=60))
    run = engine(step, functions={"fail": fails(retryable=True)}, deadline=1_090.0).run()
    assert run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.DEADLINE
    assert run.state("a") == "cancelled"


def test_an_unknown_capability_fails_the_step() -> None:
    run: Engine = engine(a_step("a", uses="nobody"), functions={}).run()
    assert run.rows["a"].failure is not None and run.rows["a"].failure.code is Code.CAPABILITY
