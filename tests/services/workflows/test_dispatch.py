"""The last check before a call: its gates, and the policy with exactly the arguments of the call."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from registry.core import roles
from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability import BLOCK, Capability, Gate, Properties, Safety
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.policy import CallRequest, Rule, Ruling, StandardPolicy, approval_digest
from registry.core.workflows.records import Phase
from registry.core.workflows.tasks import Outcome, Task
from registry.core.workflows.values import Field, Json
from registry.services.workflows import policies
from registry.services.workflows.dispatch import Dispatcher
from tests.effort import PATIENCE
from tests.services.receivers import Receiver, answering, receiving

TEXT = {"text": Field("text", "string", required=True)}
PURE = Properties(side_effects=False, idempotent=True, deterministic=True)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        receiver.behave = answering(200, b'{"allowed": true}')
        yield receiver


class NothingAllowed(StandardPolicy):
    """A policy of an operator, named by its path in a setting."""

    name = "nothing/1"

    def before(self, request: CallRequest) -> Ruling:
        return Ruling(Rule.DENY, Failure(Code.SAFETY_GATE, f"{request.capability.id} is closed on Sundays."))


def remote(receiver: Receiver, id_: str, properties: Properties = PURE, safety: Safety = Safety()) -> Capability:  # noqa: B008
    binding = {"kind": "http", "method": "POST", "url": receiver.url(f"/{id_}"), "body": "input"}
    return Capability(id_, "1.0.0", "", TEXT, {}, binding, safety, properties, digest=f"sha256:{id_}")


def gated(*gates: Gate) -> Safety:
    return Safety(roles.SANDBOX, pre_gates=gates)


def gates_of(
    guarded: Capability, *known: Capability, given: Json = None, dispatcher: Dispatcher | None = None
) -> Outcome:
    request = CallRequest("sha256:lock", "write", guarded, given or {"text": "hello"}, roles.STANDARD)
    return (dispatcher or _dispatcher(*known)).perform(Task(Phase.PRE, request, 1, PATIENCE))


def _dispatcher(*known: Capability) -> Dispatcher:
    built_in = [builtin.capability for builtin in BUILTINS.values()]
    return Dispatcher("run-1", StandardPolicy(), CapabilitySet([*known, *built_in]).get)


def test_a_deterministic_gate_is_asked_once_for_each_input(receiver: Receiver) -> None:
    gate = remote(receiver, "gate")
    dispatcher = _dispatcher(gate)
    guarded = remote(receiver, "guarded", safety=gated(Gate("gate")))
    for text in ("a", "a", "b", "a"):
        (verdict,) = gates_of(guarded, given={"text": text}, dispatcher=dispatcher).verdicts or ()
        assert verdict.allowed is True
    assert [json.loads(got.body)["text"] for got in receiver.got] == ["a", "b"]


def test_the_verdicts_of_other_gates_and_other_runs_are_not_reused(receiver: Receiver) -> None:
    gate = remote(receiver, "gate", replace(PURE, deterministic=False))
    guarded = remote(receiver, "guarded", safety=gated(Gate("gate")))
    dispatcher = _dispatcher(gate)
    gates_of(guarded, dispatcher=dispatcher)
    gates_of(guarded, dispatcher=dispatcher)
    stable = remote(receiver, "gate")
    gates_of(guarded, stable)
    gates_of(guarded, stable)
    assert len(receiver.got) == 4


def test_a_gate_whose_definition_changes_during_a_run_is_asked_again(receiver: Receiver) -> None:
    known = [remote(receiver, "gate")]
    dispatcher = Dispatcher("run-1", StandardPolicy(), lambda _: known[0])
    guarded = remote(receiver, "guarded", safety=gated(Gate("gate")))
    gates_of(guarded, dispatcher=dispatcher)
    known[0] = replace(known[0], digest="sha256:stricter")
    receiver.behave = answering(200, b'{"allowed": false}')
    (verdict,) = gates_of(guarded, dispatcher=dispatcher).verdicts or ()
    assert verdict.allowed is False


@pytest.mark.parametrize(
    "changed",
    [
        {"properties": Properties(side_effects=True, idempotent=True)},
        {"safety": Safety(requires_confirmation=True)},
        {"safety": Safety(pre_gates=(Gate("data.echo"),))},
        {"safety": Safety(post_gates=(Gate("data.echo"),))},
        {"binding": {"kind": "skill", "name": "inner"}},
    ],
)
def test_a_gate_that_became_unfit_to_be_one_is_not_called(receiver: Receiver, changed: dict[str, Any]) -> None:
    """The last good definition of a guarded capability stays in use when its gate changes."""
    guarded = remote(receiver, "guarded", safety=gated(Gate("gate", on_fail="warn")))
    (verdict,) = gates_of(guarded, replace(remote(receiver, "gate"), **changed)).verdicts or ()
    assert verdict.allowed is None
    assert receiver.got == []


def test_a_gate_that_failed_is_asked_again(receiver: Receiver) -> None:
    gate = remote(receiver, "gate")
    dispatcher, guarded = _dispatcher(gate), remote(receiver, "guarded", safety=gated(Gate("gate")))
    receiver.behave = answering(500, b"{}")
    (verdict,) = gates_of(guarded, dispatcher=dispatcher).verdicts or ()
    assert verdict.allowed is None
    receiver.behave = answering(200, b'{"allowed": true}')
    (verdict,) = gates_of(guarded, dispatcher=dispatcher).verdicts or ()
    assert verdict.allowed is True


@pytest.mark.parametrize("gate", [Gate("no.such.gate"), Gate("data.echo", {"value": "vars.secret"})])
def test_a_gate_that_cannot_be_asked_gives_no_verdict(receiver: Receiver, gate: Gate) -> None:
    (verdict,) = gates_of(remote(receiver, "guarded", safety=gated(gate))).verdicts or ()
    assert verdict.allowed is None


def test_gates_behind_one_that_stops_the_call_are_not_asked(receiver: Receiver) -> None:
    receiver.behave = answering(200, b'{"allowed": false, "reason": "No."}')
    guarded = remote(receiver, "guarded", safety=gated(Gate("first", on_fail=BLOCK), Gate("second")))
    (verdict,) = gates_of(guarded, remote(receiver, "first"), remote(receiver, "second")).verdicts or ()
    assert (verdict.gate, verdict.allowed, verdict.reason) == ("first", False, "No.")
    assert len(receiver.got) == 1


def test_an_approval_of_other_arguments_makes_no_call(receiver: Receiver) -> None:
    safety = Safety(roles.SANDBOX, requires_confirmation=True)
    guarded = remote(receiver, "guarded", Properties(), safety)
    seen = CallRequest("sha256:lock", "write", guarded, {"text": "seen"}, roles.STANDARD)
    approvals = frozenset({approval_digest(StandardPolicy.name, seen, ())})
    for changed in (
        replace(seen, input={"text": "other"}),
        replace(seen, path="write#2"),
        replace(seen, lock="sha256:other"),
        replace(seen, capability=replace(guarded, digest="sha256:changed")),
        replace(seen, capability=replace(guarded, target="elsewhere")),
    ):
        outcome = _dispatcher().perform(Task(Phase.CALL, replace(changed, approvals=approvals), 1, PATIENCE))
        assert outcome.failure
        assert outcome.failure.is_safety
    assert receiver.got == []
    assert _dispatcher().perform(Task(Phase.CALL, replace(seen, approvals=approvals), 1, PATIENCE)).failure is None
    assert len(receiver.got) == 1


def test_trust_that_was_lowered_meanwhile_makes_no_call(receiver: Receiver) -> None:
    guarded = remote(receiver, "guarded", Properties(), Safety(roles.ELEVATED))
    request = CallRequest("sha256:lock", "write", guarded, {"text": "a"}, roles.STANDARD)
    outcome = _dispatcher().perform(Task(Phase.CALL, request, 1, PATIENCE))
    assert outcome.failure
    assert outcome.failure.code == Code.SAFETY_TRUST
    assert receiver.got == []


def test_an_operator_can_replace_the_policy(receiver: Receiver, settings: Any) -> None:
    settings.WORKFLOW_POLICY = f"{__name__}.NothingAllowed"
    guarded = remote(receiver, "guarded", safety=Safety(roles.SANDBOX))
    request = CallRequest("sha256:lock", "write", guarded, {"text": "a"}, roles.PRIVILEGED)
    dispatcher = Dispatcher("run-1", policies.current(), CapabilitySet([]).get)
    outcome = dispatcher.perform(Task(Phase.CALL, request, 1, PATIENCE))
    assert outcome.failure == Failure(Code.SAFETY_GATE, "guarded is closed on Sundays.")
    assert receiver.got == []
