"""A run that cannot go on begins nothing more, also after the loss of its worker."""

from dataclasses import replace

import pytest

from registry.core.workflows.capability import Gate, Properties, Safety
from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.plan import Foreach, Retry, Scatter, Step
from registry.core.workflows.records import Phase
from registry.core.workflows.tasks import MAYBE_DONE, Answer, Outcome
from tests.core.workflows.engine import Engine, capability, engine, fails, plan

ONCE = Properties(side_effects=True, idempotent=False)
GATED = Safety(pre_gates=(Gate("a.gate"),))
FAILED = Outcome(failure=Failure(Code.CALL, "No."))


def echo(given: dict) -> dict:
    return {"value": given.get("value")}


def report(run: Engine, path: str, outcome: Outcome | None = None) -> None:
    """Let one task of a run end. The others stay on their way."""
    task = next(task for task in run.pending if task.path == path)
    run.pending.remove(task)
    run.scheduler.report(path, outcome or run.perform(task), run.now)


def two_at_once(second: Step, **options: object) -> Engine:
    """Return a run whose step `a` fails while `second` is on its way, and a step that waits for nobody but `b`."""
    steps = (Step("a", "fail", {}, {}), second, Step("c", "echo", {}, {}, (second.id,)))
    functions = {"echo": echo, "fail": fails(), "a.gate": lambda given: {"allowed": True}, "pay": echo}
    run = engine(*steps, functions=functions, **options)
    run.decide()
    report(run, "a")
    run.decide()
    return run


def test_a_failure_is_remembered_when_the_worker_is_lost() -> None:
    run = two_at_once(Step("b", "echo", {}, {}))
    assert run.end is None
    run.crash().run()
    assert run.end is not None and run.end.state == "failed"
    assert run.called == ["a"] and "c" not in run.rows


def test_a_denial_is_remembered_when_the_worker_is_lost() -> None:
    steps = (Step("ask", "human.approve", {"question": "Go on?"}, {}), Step("b", "echo", {}, {}))
    run = engine(*steps, functions={"echo": echo, "human.approve": echo})
    run.decide()
    ask = run.asks.pop("ask")
    run.scheduler.answer(Answer(ask.path, False, ask.digest), run.now)
    run.decide()
    run.crash().run()
    assert run.end is not None and run.end.state == "denied"


def test_a_failure_in_a_nested_skill_is_remembered() -> None:
    inner = plan(Step("a", "fail", {}, {}), Step("b", "echo", {}, {}), Step("c", "echo", {}, {}, ("b",)))
    run = engine(Step("call", "skill:inner"), functions={"echo": echo, "fail": fails()}, nested={"inner": inner})
    run.decide()
    report(run, "call/a")
    run.decide()
    run.crash().run()
    assert run.end is not None and run.end.state == "failed" and run.called == ["call/a"]


def test_an_abandoned_attempt_of_a_nested_skill_does_not_end_the_next_one() -> None:
    answers = iter([fails(), echo, echo])
    inner = plan(Step("up", "flaky", {}, {}), Step("down", "echo", {}, {}, ("up",)))
    run = engine(
        Step("call", "skill:inner", retry=Retry(2)),
        functions={"flaky": lambda given: next(answers)(given), "echo": echo}, nested={"inner": inner},
    )  # fmt: skip
    run.decide()
    report(run, "call/up")
    run.now = run.decide().wake_at or run.now
    run.decide()
    run.crash().run()
    assert run.end is not None and run.end.state == "completed"
    assert "call/down" not in run.rows and run.called == ["call/up", "call!2/up", "call!2/down"]


def test_no_call_is_made_after_its_gates_if_the_run_cannot_go_on() -> None:
    second = Step("b", "pay", {}, {})
    run = two_at_once(second, capabilities={"pay": capability("pay", safety=GATED, properties=ONCE)})
    report(run, "b")
    run.run()
    assert run.called == ["a"] and run.state("b") == "cancelled" and run.rows["b"].reason == ""


def test_no_call_is_repeated_if_the_run_cannot_go_on() -> None:
    run = two_at_once(Step("b", "flaky", {}, {}, retry=Retry(3)), capabilities={"flaky": capability("flaky")})
    report(run, "b", replace(FAILED, retryable=True))
    run.run()
    assert run.state("b") == "failed" and run.rows["b"].attempts == 1


def test_nobody_is_asked_about_a_call_if_the_run_cannot_go_on() -> None:
    run = two_at_once(Step("b", "pay", {}, {}), capabilities={"pay": capability("pay", properties=ONCE)})
    report(run, "b", replace(FAILED, in_doubt=True))
    run.run()
    assert run.asks == {} and run.end is not None
    assert run.state("b") == "cancelled" and run.rows["b"].reason == MAYBE_DONE


def test_a_call_that_was_cut_off_in_a_run_that_cannot_go_on_is_cancelled() -> None:
    run = two_at_once(Step("b", "pay", {}, {}), capabilities={"pay": capability("pay", properties=ONCE)})
    run.crash().run()
    assert run.asks == {} and run.end is not None and run.rows["b"].reason == MAYBE_DONE


def test_a_nested_skill_is_cancelled_once() -> None:
    inner = plan(Step("ask", "human.approve", {"question": "Go on?"}, {}))
    steps = (Step("a", "fail", {}, {}), Step("call", "skill:inner"), Step("last", "echo", {}, {}, ("call", "a")))
    functions = {"fail": fails(), "human.approve": echo, "echo": echo}
    run = engine(*steps, functions=functions, nested={"inner": inner}).run()
    assert run.end is not None and run.end.state == "failed"
    ended = [record.ended for record in run.rows.values()]
    assert sorted(ended) == sorted(set(ended)) and run.scheduler.tree.sequence == 6
    again = run.open(run.rows.values())
    assert again.end is not None and again.tree.root.states == run.scheduler.tree.root.states


def test_items_that_wait_are_cancelled_with_the_item_that_was_denied() -> None:
    step = Step("pay", "pay", {"value": "item"}, {}, foreach=Foreach("inputs.items"))
    definition = capability("pay", safety=Safety(requires_confirmation=True), properties=ONCE)
    run = engine(step, functions={"pay": echo}, capabilities={"pay": definition}, inputs={"items": [1, 2, 3]}).run()
    run.answer("pay[1]", approved=False)
    assert run.end is not None and run.end.state == "denied" and run.called == []
    assert [run.state(f"pay[{index}]") for index in range(3)] == ["cancelled", "denied", "cancelled"]


def test_the_losers_of_a_scatter_make_no_call_after_their_gates() -> None:
    step = Step("a", "", {}, {"value": "outputs.x"}, scatter=Scatter(("fast", "pay"), "first_success"))
    run = engine(
        step, functions={"fast": echo, "pay": echo, "a.gate": lambda given: {"allowed": True}},
        capabilities={"pay": capability("pay", safety=GATED, properties=ONCE)},
    )  # fmt: skip
    run.decide()
    report(run, "a@fast")
    run.decide()
    report(run, "a@pay")
    run.run()
    assert run.called == ["a@fast"] and run.end is not None and run.end.state == "completed"


@pytest.mark.parametrize("phase", [Phase.PRE, Phase.POST])
@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(failure=Failure(Code.TIMEOUT, "Slow."), retryable=True),
        Outcome(failure=Failure(Code.TIMEOUT, "Slow."), in_doubt=True),
        Outcome(failure=Failure(Code.CALL, "Failed unexpectedly.")),
        Outcome(),
        Outcome(output={"allowed": True}),
    ],
)
def test_gates_without_verdicts_fail_closed_and_are_never_retried(phase: Phase, outcome: Outcome) -> None:
    gates = {"pre_gates" if phase is Phase.PRE else "post_gates": (Gate("a.gate", on_fail="warn"),)}
    definition = capability("pay", safety=Safety(**gates), properties=ONCE)
    run = engine(
        Step("a", "pay", {}, {}, retry=Retry(3)), functions={"pay": echo, "a.gate": echo},
        capabilities={"pay": definition}, fail_fast=False,
    )  # fmt: skip
    run.decide()
    if phase is Phase.POST:
        report(run, "a")
        run.decide()
    report(run, "a", outcome)
    run.run()
    assert run.called == (["a"] if phase is Phase.POST else [])
    assert run.end is not None and run.end.failure is not None and run.end.failure.code is Code.SAFETY_GATE_ERROR
    assert run.rows["a"].output is None


def test_gates_that_end_their_worker_each_time_fail_closed() -> None:
    definition = capability("pay", safety=GATED, properties=ONCE)
    run = engine(Step("a", "pay", {}, {}), functions={"pay": echo, "a.gate": echo}, capabilities={"pay": definition})
    for _ in range(6):
        run.decide()
        run.crash()
    run.run()
    assert run.called == [] and run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.SAFETY_GATE_ERROR


def test_a_gate_that_is_added_while_a_person_decides_is_asked() -> None:
    asked: list[str] = []

    def gate(name: str, allowed: bool) -> object:
        return lambda given: asked.append(name) or {"allowed": allowed}

    first = Gate("first", on_fail="require_human")
    definition = capability("pay", safety=Safety(pre_gates=(first,)), properties=ONCE)
    run = engine(
        Step("a", "pay", {}, {}), capabilities={"pay": definition},
        functions={"pay": echo, "first": gate("first", False), "second": gate("second", False)},
    ).run()  # fmt: skip
    assert asked == ["first"]
    run.capabilities["pay"] = capability("pay", safety=Safety(pre_gates=(first, Gate("second"))), properties=ONCE)
    run.answer("a")
    assert asked == ["first", "first", "second"] and run.called == []
    assert run.end is not None and run.end.failure is not None and run.end.failure.code is Code.SAFETY_GATE


def test_a_gate_that_is_added_after_the_call_withholds_the_output() -> None:
    first = Gate("first", on_fail="require_human")
    definition = capability("pay", safety=Safety(post_gates=(first,)), properties=ONCE)
    run = engine(
        Step("a", "pay", {}, {"value": "outputs.x"}), capabilities={"pay": definition},
        functions={"pay": echo, "first": lambda _: {"allowed": False}, "second": lambda _: {"allowed": False}},
    ).run()  # fmt: skip
    run.capabilities["pay"] = capability("pay", safety=Safety(post_gates=(first, Gate("second"))), properties=ONCE)
    run.answer("a")
    assert run.called == ["a"] and run.end is not None and run.end.failure is not None
    assert run.end.failure.code is Code.SAFETY_GATE and run.outputs == {}
