"""A run survives the loss of its worker."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows.capability import Properties, Safety
from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.plan import Foreach, Retry, Step, While
from registry.core.workflows.records import RunState
from registry.core.workflows.tasks import Outcome
from tests.core.workflows.engine import Engine, capability, engine, fails, plan

AGAIN = Properties(side_effects=True, idempotent=True)
ONCE = Properties(side_effects=True, idempotent=False)


def echo(given: dict) -> dict:
    return {"value": given.get("value")}


def one_call(properties: Properties, safety: Safety | None = None) -> Engine:
    step = Step("pay", "bank.pay", {"value": 5}, {"value": "outputs.paid"})
    definition = capability("bank.pay", properties=properties, safety=safety, outputs=["value"])
    return engine(step, functions={"bank.pay": echo}, capabilities={"bank.pay": definition})


def test_a_call_that_may_repeat_is_made_again() -> None:
    run = one_call(AGAIN)
    run.decide()
    run.crash().run()
    assert run.outputs == {"paid": 5} and run.rows["pay"].attempts == 2


def test_a_call_that_must_not_repeat_asks_whether_it_has_happened() -> None:
    run = one_call(ONCE)
    run.decide()
    run.crash().run()
    assert run.called == [] and run.asks["pay"].kind == "doubt"


def test_a_call_that_has_happened_is_not_made_again() -> None:
    run = one_call(ONCE)
    run.decide()
    run.crash().run().answer("pay", happened=True, output={"value": 7})
    assert run.called == [] and run.outputs == {"paid": 7}


def test_a_call_that_has_not_happened_is_made() -> None:
    run = one_call(ONCE)
    run.decide()
    run.crash().run().answer("pay", happened=False)
    assert run.called == ["pay"] and run.outputs == {"paid": 5}


def test_a_person_can_stop_a_run_in_doubt() -> None:
    run = one_call(ONCE)
    run.decide()
    run.crash().run().answer("pay", approved=False)
    assert run.called == [] and run.end is not None and run.end.state == "denied"


def test_an_approval_survives_the_worker_and_is_used_once() -> None:
    run = one_call(AGAIN, Safety(requires_confirmation=True)).run()
    run.crash().run()
    assert list(run.asks) == ["pay"]
    run.answer("pay")
    assert run.called == ["pay"] and run.outputs == {"paid": 5}


def test_a_question_whose_row_was_lost_is_asked_again() -> None:
    run = one_call(AGAIN, Safety(requires_confirmation=True)).run()
    run.asks.clear()
    run.crash().run()
    assert list(run.asks) == ["pay"]


def test_a_call_that_is_cut_off_each_time_fails_at_last() -> None:
    run = one_call(AGAIN)
    for _ in range(6):
        run.decide()
        run.crash()
    run.run()
    assert run.rows["pay"].failure is not None and run.rows["pay"].failure.code is Code.CALL


def test_a_retry_waits_in_the_rows() -> None:
    step = Step("a", "flaky", {}, {}, retry=Retry(2, backoff_seconds=30))
    answers = iter([fails(retryable=True), echo])
    run = engine(step, functions={"flaky": lambda given: next(answers)(given)})
    run.decide()
    task = run.pending.pop()
    run.scheduler.report(task.path, run.perform(task), run.now)
    assert run.decide().wake_at == run.now + 30
    run.crash()
    assert run.decide().tasks == ()
    run.run()
    assert run.end is not None and run.end.state == "completed" and run.rows["a"].attempts == 2


def test_a_late_outcome_of_an_earlier_task_changes_nothing() -> None:
    run = one_call(AGAIN).run()
    before = run.rows["pay"]
    run.scheduler.report("pay", Outcome(failure=Failure(Code.CALL, "Late.")), run.now)
    assert run.decide().changed == () and run.rows["pay"] is before


def test_a_stopped_run_cancels_what_has_not_ended() -> None:
    run = engine(Step("a", "echo", {}, {}), Step("b", "echo", {}, {}, ("a",)), functions={"echo": echo})
    run.decide()
    run.scheduler.stop(RunState.CANCELLED, None, run.now)
    run.decide()
    assert run.end is not None and run.end.state == "cancelled"
    assert run.state("a") == "cancelled" and run.rows["a"].reason == "The call may still have an effect."


def test_a_paused_run_with_more_to_do_is_due_at_once() -> None:
    steps = (Step("a", "echo", {}, {}), Step("b", "echo", {}, {}, ("a",)))
    run = engine(*steps, functions={"echo": echo})
    run.decide()
    run.scheduler.pause()
    assert run.decide().wake_at is None  # the call of the first step is on its way
    task = run.pending.pop()
    run.scheduler.report(task.path, run.perform(task), run.now)
    decision = run.decide()
    assert (decision.tasks, decision.wake_at) == ((), run.now)
    run.crash().run()
    assert run.end is not None and run.called == ["a", "b"]


def tangled() -> Engine:
    inner = plan(
        Step("twice", "echo", {"value": 1}, {"value": "vars.n"}, while_=While("true", 2)),
        Step("out", "echo", {"value": "vars.n"}, {"value": "outputs.n"}, ("twice",)),
    )
    steps = (
        Step("list", "echo", {"value": [1, 2, 3]}, {"value": "vars.items"}),
        Step("each", "skill:inner", {}, {"n": "vars.all"}, ("list",), foreach=Foreach("vars.items")),
        Step("ask", "bank.pay", {"value": "vars.items"}, {}, ("list",)),
        Step("flaky", "sometimes", {}, {}, retry=Retry(3)),
        Step("end", "echo", {"value": "vars.all"}, {"value": "outputs.all"}, ("each", "ask", "flaky")),
    )
    tries = iter([fails(retryable=True), *[echo] * 50])
    definition = capability("bank.pay", safety=Safety(requires_confirmation=True), properties=AGAIN)
    return engine(
        *steps,
        functions={"echo": echo, "bank.pay": echo, "sometimes": lambda given: next(tries)(given)},
        capabilities={"bank.pay": definition},
        nested={"inner": inner},
        max_workers=3,
    )


@settings(deadline=None)
@given(st.integers(), st.lists(st.sampled_from(["step", "crash", "answer", "wake"]), max_size=60))
def test_a_run_that_is_lost_again_and_again_ends_like_one_that_is_not(seed: int, moves: list[str]) -> None:
    run, chance = tangled(), random.Random(seed)
    for move in moves:
        if run.end is not None:
            break
        run.decide()
        if move == "crash" and sum(record.notes.get("interruptions", 0) for record in run.rows.values()) < 4:
            run.crash()
        elif move == "answer" and run.asks:
            ask = run.asks.pop(chance.choice(sorted(run.asks)))
            run.scheduler.answer(_yes(ask.path, ask.digest), run.now)
        elif move == "wake":
            run.now += 100
        elif run.pending:
            task = run.pending.pop(chance.randrange(len(run.pending)))
            run.scheduler.report(task.path, run.perform(task), run.now)
    while run.end is None:
        run.run()
        for path in list(run.asks):
            run.answer(path)
    assert run.end.state == "completed" and run.outputs == {"all": [1, 1, 1]}
    again = run.open(run.rows.values())
    assert again.tree.root.state.digest == run.scheduler.tree.root.state.digest


def _yes(path: str, digest: str) -> object:
    from registry.core.workflows.tasks import Answer

    return Answer(path, True, digest)
