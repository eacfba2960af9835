"""The policy in a run: trust, confirmation, gates, questions, and what an approval covers."""

from dataclasses import replace

import pytest

from registry.core.workflows.capability import Capability, Gate, Properties, Safety
from registry.core.workflows.failures import Code
from registry.core.workflows.plan import Approvers, Foreach, Retry, Step
from registry.core.workflows.policy import CallRequest, Rule, StandardPolicy, Verdict
from tests.core.workflows.engine import Engine, capability, engine, fails, plan

CAREFUL = Properties(side_effects=True, idempotent=False)


def allow(_: dict) -> dict:
    return {"allowed": True}


def object_to(_: dict) -> dict:
    return {"allowed": False, "reason": "Too risky."}


def paid(_: dict) -> dict:
    return {"paid": True}


def pay(safety: Safety, *steps: Step, gate: object = allow, **options: object) -> Engine:
    """Return a run whose step `pay` calls a capability with this safety. Its gates are `gate`."""
    step = Step("pay", "bank.pay", {"amount": "inputs.amount"}, {"paid": "outputs.paid"})
    steps = steps or (step,)
    return engine(
        *steps,
        functions={"bank.pay": paid, "a.gate": gate, "other": paid},
        capabilities={"bank.pay": capability("bank.pay", safety=safety, properties=CAREFUL)},
        inputs=options.pop("inputs", {"amount": 5}),
        **options,
    ).run()


def code(run: Engine) -> Code | None:
    return run.end.failure.code if run.end is not None and run.end.failure is not None else None


@pytest.mark.parametrize(
    ("trust", "needed", "allowed"),
    [
        ("sandbox", "standard", False),
        ("standard", "standard", True),
        ("elevated", "standard", True),
        ("standard", "elevated", False),
        ("made-up", "standard", True),
        ("made-up", "elevated", False),
        ("privileged", "privileged", True),
    ],
)
def test_trust_must_reach_the_level_of_the_capability(trust: str, needed: str, allowed: bool) -> None:
    run = pay(Safety(needed), trust=trust)
    assert (run.called == ["pay"]) is allowed
    assert code(run) is (None if allowed else Code.SAFETY_TRUST)


def test_trust_is_checked_before_anybody_is_asked() -> None:
    run = pay(Safety("elevated", requires_confirmation=True))
    assert run.asks == {} and code(run) is Code.SAFETY_TRUST


def test_a_confirmation_parks_the_run_before_its_gates() -> None:
    asked = []
    run = pay(
        Safety(requires_confirmation=True, pre_gates=(Gate("a.gate"),)),
        gate=lambda given: asked.append(given) or {"allowed": True},
    )
    assert run.end is None and run.state("pay") == "waiting" and asked == [] and run.called == []
    run.answer("pay")
    assert run.called == ["pay"] and asked == [{"amount": 5}]


def test_an_approval_of_one_call_does_not_cover_another() -> None:
    steps = [Step(name, "bank.pay", {"amount": 5}, {}) for name in ("first", "second")]
    run = pay(Safety(requires_confirmation=True), *steps)
    assert set(run.asks) == {"first", "second"}
    run.answer("first")
    assert run.called == ["first"] and set(run.asks) == {"second"}


def test_each_item_of_a_foreach_needs_an_approval_of_its_own() -> None:
    step = Step("pay", "bank.pay", {"amount": "item"}, {}, foreach=Foreach("inputs.amount"))
    run = pay(Safety(requires_confirmation=True), step, inputs={"amount": [1, 2]})
    assert set(run.asks) == {"pay[0]", "pay[1]"}
    assert len({ask.digest for ask in run.asks.values()}) == 2


def test_a_denied_call_denies_the_run() -> None:
    run = pay(Safety(requires_confirmation=True)).answer("pay", approved=False, by="Ada", comment="Too much.")
    assert run.end is not None and run.end.state == "denied"
    assert run.called == [] and run.rows["pay"].reason == "Ada denied: Too much."


def test_an_unanswered_call_expires_the_run() -> None:
    run = pay(Safety(requires_confirmation=True)).answer("pay", approved=False, expired=True)
    assert run.end is not None and run.end.state == "expired"


def test_a_denial_can_branch() -> None:
    steps = (
        Step("pay", "bank.pay", {}, {}, on_deny="tell"),
        Step("thank", "other", {}, {}, ("pay",)),
        Step("tell", "other", {}, {}, ("pay",)),
        Step("end", "other", {}, {}, ("tell",)),
    )
    run = pay(Safety(requires_confirmation=True), *steps)
    denied = run.answer("pay", approved=False)
    assert denied.called == ["tell", "end"]
    assert denied.end is not None and denied.end.state == "completed"
    assert denied.rows["thank"].reason == "Skipped: not approved"
    approved = pay(Safety(requires_confirmation=True), *steps).answer("pay")
    assert approved.called == ["pay", "thank", "end"] or approved.called == ["pay", "end", "thank"]
    assert approved.state("tell") == "skipped"


def test_a_blocking_gate_stops_the_call() -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate"),)), gate=object_to)
    assert run.called == [] and code(run) is Code.SAFETY_GATE
    assert "Too risky." in run.rows["pay"].reason


def test_a_warning_gate_is_recorded_and_the_call_is_made() -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate", on_fail="warn"),)), gate=object_to)
    assert run.called == ["pay"]
    assert run.rows["pay"].notes["warnings"] == ["The gate a.gate says: Too risky."]


def test_a_degrading_gate_goes_on_without_the_call() -> None:
    steps = (
        Step("pay", "bank.pay", {}, {"paid": "vars.paid"}),
        Step("after", "other", {"paid": "vars.paid"}, {}, ("pay",)),
    )
    run = pay(Safety(pre_gates=(Gate("a.gate", on_fail="degrade"),)), *steps, gate=object_to)
    assert run.state("pay") == "degraded" and run.calls == [("after", {"paid": None})]
    assert run.end is not None and run.end.state == "completed"


def test_a_gate_can_require_a_person() -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate", on_fail="require_human"),)), gate=object_to)
    assert run.called == [] and run.asks["pay"].reason == "The gate a.gate says: Too risky."
    run.answer("pay")
    assert run.called == ["pay"]


def test_a_confirmation_does_not_cover_a_gate_that_requires_a_person() -> None:
    safety = Safety(requires_confirmation=True, pre_gates=(Gate("a.gate", on_fail="require_human"),))
    run = pay(safety, gate=object_to)
    first = run.asks["pay"].digest
    run.answer("pay")
    assert run.called == [] and run.asks["pay"].digest != first
    run.answer("pay")
    assert run.called == ["pay"]


@pytest.mark.parametrize("on_fail", ["block", "warn", "degrade", "require_human"])
@pytest.mark.parametrize(
    "gate",
    [
        fails(),
        lambda _: {},
        lambda _: {"allowed": "yes"},
        lambda _: {"allowed": None},
        lambda _: ["allowed"],
        lambda _: {"decision": "maybe"},
        lambda _: {"allowed": True, "decision": "block"},
    ],
)
def test_a_gate_without_a_verdict_fails_closed(on_fail: str, gate: object) -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate", on_fail=on_fail),)), gate=gate)
    assert run.called == [] and code(run) is Code.SAFETY_GATE_ERROR


@pytest.mark.parametrize(
    ("verdict", "allowed"),
    [({"decision": "pass"}, True), ({"decision": "block"}, False), ({"contains_pii": True}, False)],
)
def test_known_forms_of_verdicts_are_understood(verdict: dict, allowed: bool) -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate"),)), gate=lambda _: verdict)
    assert (run.called == ["pay"]) is allowed


@pytest.mark.parametrize(
    "verdict",
    [
        {"decision": "deny", "contains_pii": False},
        {"decision": "BLOCK", "allowed": True},
        {"decision": True, "allowed": True},
        {"allowed": "no", "decision": "pass"},
        {"allowed": 0, "contains_pii": False},
        {"decision": "pass", "contains_pii": True},
        {"allowed": True, "decision": "block"},
    ],
)
def test_a_verdict_in_a_form_that_nobody_knows_stops_the_call(verdict: dict) -> None:
    run = pay(Safety(pre_gates=(Gate("a.gate", on_fail="warn"),)), gate=lambda _: verdict)
    assert run.called == [] and code(run) is Code.SAFETY_GATE_ERROR


@pytest.mark.parametrize(
    "verdicts",
    [
        (),
        (Verdict("a.gate", "block", True),),
        (Verdict("a.gate", "block", True), Verdict("a.gate", "block", True)),
        (Verdict("a.gate", "block", True), Verdict("a.second", "warn", True)),
        (Verdict("a.gate", "warn", False), Verdict("a.second", "block", True)),
    ],
)
def test_verdicts_of_an_earlier_definition_do_not_count_for_its_gates(verdicts: tuple[Verdict, ...]) -> None:
    gates = (Gate("a.gate"), Gate("a.second"))
    before = CallRequest(
        "sha256:lock", "pay", capability("bank.pay", safety=Safety(pre_gates=gates)), {}, "standard", verdicts
    )
    after = replace(before, capability=capability("bank.pay", safety=Safety(post_gates=gates)))
    policy = StandardPolicy()
    for ruling in (policy.before(before), policy.after(after, {}, verdicts)):
        assert ruling.rule is Rule.DENY and ruling.failure and ruling.failure.code is Code.SAFETY_GATE_ERROR
    allowed = tuple(Verdict(gate.capability, gate.on_fail, True) for gate in gates)
    assert policy.before(replace(before, verdicts=allowed)).rule is Rule.PROCEED
    assert policy.after(after, {}, allowed).rule is Rule.PROCEED


@pytest.mark.parametrize(("on_fail", "state"), [("block", "failed"), ("degrade", "degraded"), ("warn", "completed")])
def test_a_gate_after_the_call_withholds_its_output(on_fail: str, state: str) -> None:
    run = pay(Safety(post_gates=(Gate("a.gate", on_fail=on_fail),)), gate=object_to)
    assert run.called == ["pay"] and run.state("pay") == state
    assert (run.rows["pay"].output is None) is (state != "completed")
    assert run.rows["pay"].held is None or state == "failed"


def test_a_person_can_release_an_output() -> None:
    run = pay(Safety(post_gates=(Gate("a.gate", on_fail="require_human"),)), gate=object_to)
    assert run.called == ["pay"] and run.end is None
    run.answer("pay")
    assert run.called == ["pay"] and run.outputs == {"paid": True}


def test_a_changed_definition_asks_again() -> None:
    run = pay(Safety(requires_confirmation=True))
    run.capabilities["bank.pay"] = capability("bank.pay", safety=Safety("standard", True, (Gate("a.gate"),)))
    first = run.asks["pay"].digest
    run.answer("pay")
    assert run.called == [] and run.asks["pay"].digest != first


def test_a_retry_needs_no_second_approval() -> None:
    answers = iter([fails(retryable=True), paid])
    step = Step("pay", "bank.pay", {}, {}, retry=Retry(2))
    run = engine(
        step,
        functions={"bank.pay": lambda given: next(answers)(given)},
        capabilities={"bank.pay": capability("bank.pay", safety=Safety(requires_confirmation=True))},
    ).run()
    run.answer("pay")
    assert run.called == ["pay", "pay"] and run.asks == {}


def test_a_safety_failure_keeps_its_type_in_nested_skills_and_is_never_retried() -> None:
    inner = plan(Step("pay", "bank.pay", {}, {}))
    outer = Step("call", "skill:inner", retry=Retry(3))
    other = Step("other", "other", {}, {}, ("call",))
    for fail_fast in (True, False):
        run = pay(Safety("elevated"), outer, other, nested={"inner": inner}, fail_fast=fail_fast)
        assert code(run) is Code.SAFETY_TRUST
        assert run.called == [] and run.rows["call"].attempts == 1


def test_scatter_members_and_routed_calls_are_gated_too() -> None:
    from registry.core.workflows.plan import Router, Scatter

    scattered = Step("pay", "", {}, {}, scatter=Scatter(("bank.pay", "other")))
    routed = Step("pay", "", {}, {}, router=Router("'x'", {"x": "bank.pay"}))
    for step in (scattered, routed):
        run = pay(Safety("elevated"), step)
        assert "bank.pay" not in [path.partition("@")[2] for path in run.called] and code(run) is Code.SAFETY_TRUST


def test_a_capability_that_is_a_skill_has_a_policy_of_its_own() -> None:
    inner = plan(Step("echo", "other", {}, {}))
    definition: Capability = capability("bank.pay", safety=Safety("elevated"), skill="inner")
    run = engine(
        Step("pay", "bank.pay"), functions={"other": paid}, capabilities={"bank.pay": definition},
        nested={"inner": inner},
    ).run()  # fmt: skip
    assert run.called == [] and code(run) is Code.SAFETY_TRUST


def test_the_operator_decides_who_approves_and_the_step_only_adds_people() -> None:
    safety = Safety(requires_confirmation=True, approvers=Approvers(("ada",), (), 1))
    step = Step("pay", "bank.pay", {}, {}, approvers=Approvers(("eve",), ("author",), 2))
    assert pay(safety, step).asks["pay"].approvers == Approvers(("ada",), (), 2)


@pytest.mark.parametrize(
    ("operator", "step", "asked"),
    [
        (Approvers(count=2), Approvers(("cfo",)), Approvers(("cfo",), (), 2)),
        (None, Approvers(("cfo",)), Approvers(("cfo",))),
        (Approvers(roles=("reviewer", "owner")), Approvers(roles=("owner",)), Approvers((), ("owner",))),
        (Approvers(("ada", "bob")), Approvers(("bob",)), Approvers(("bob",))),
        (Approvers(("ada",), ("owner",)), Approvers(("ada",), ("author",)), Approvers(("ada",), ("owner",))),
        (Approvers(("ada",)), Approvers(count=3), Approvers(("ada",), (), 3)),
    ],
)
def test_a_step_can_ask_fewer_people_than_the_operator_and_no_others(
    operator: Approvers | None, step: Approvers, asked: Approvers
) -> None:
    safety = Safety(requires_confirmation=True, approvers=operator)
    run = pay(safety, Step("pay", "bank.pay", {}, {}, approvers=step))
    assert run.asks["pay"].approvers == asked


_FORM = {"question": "How many?", "fields": {"count": {"type": "integer"}}}


def test_a_person_gives_typed_input() -> None:
    step = Step("ask", "human.input", _FORM, {"values": "outputs.given"})
    run = engine(step, functions={"human.input": paid}).run()
    assert run.asks["ask"].kind == "input" and run.asks["ask"].reason == "How many?" and run.called == []
    run.answer("ask", output={"count": 3})
    assert run.outputs == {"given": {"count": 3}}


def test_an_approval_step_says_who_approved() -> None:
    step = Step("ask", "human.approve", {"question": "Go on?"}, {"by": "outputs.by"})
    run = engine(step, functions={"human.approve": paid}).run().answer("ask", by="Ada")
    assert run.outputs == {"by": "Ada"}
