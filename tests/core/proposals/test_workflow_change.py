"""Changes of a workflow: steps, new calls, and people who are no longer asked."""

from collections.abc import Mapping

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.proposals import assessment, workflow_change
from registry.core.proposals.risk import Risk
from registry.core.proposals.workflow_change import WorkflowChange
from registry.core.workflows.capability import Capability, Properties, Safety
from registry.core.workflows.plan import FILE

HEAD = "id: a.b\nversion: 1.0.0\nsteps:\n"
GREET = "  - {id: greet, uses: text.template, input: {template: Hello}}\n"
ASK = "  - {id: ask, uses: human.approve, input: {question: Fine}}\n"
WRITE = "  - {id: write, uses: ledger.entry.write}\n"
PLAIN = Safety()
PURE = Properties(side_effects=False, idempotent=True)


def capability(name: str, safety: Safety = PLAIN, properties: Properties = PURE, target: str = "") -> Capability:
    return Capability(name, "1", "", {}, {}, {"kind": "http"}, safety, properties, target=target)


KNOWN = {
    each.id: each
    for each in (
        capability("text.template"),
        capability("human.approve"),
        capability("text.fetch", target="texts.example"),
        capability(
            "ledger.entry.write",
            Safety("elevated", requires_confirmation=True),
            Properties(side_effects=True),
            "ledger.internal",
        ),
    )
}


def bundle(*steps: str, text: str = "") -> Bundle:
    content = text or HEAD + "".join(steps)
    skill = b"---\nname: greeting\ndescription: Greets. Use when somebody arrives.\n---\n# Greeting\n\nSay hello.\n"
    return Bundle({SKILL_MD: skill, FILE: content.encode()})


def compare(
    before: Bundle | None, after: Bundle | None, known: Mapping[str, Capability] | None = KNOWN
) -> WorkflowChange:
    change = workflow_change.compare(before, after, known)
    assert change is not None
    return change


def test_a_call_with_side_effects_is_told_in_one_sentence() -> None:
    change = compare(bundle(GREET), bundle(GREET, WRITE))
    assert list(workflow_change.reasons(change)) == [
        (
            Risk.HIGH,
            "The workflow starts to call ledger.entry.write (ledger.internal), which has side effects and needs "
            "the trust level elevated and a confirmation.",
        )
    ]
    assert dict(change.states) == {"greet": "unchanged", "write": "added"}


@pytest.mark.parametrize(
    ("step", "risk", "sentence"),
    [
        ("text.fetch", Risk.MEDIUM, "text.fetch (texts.example)"),
        ("no.such", Risk.MEDIUM, "no.such, which is not registered in this project"),
        ("skill:other", Risk.MEDIUM, "the workflow of the skill other"),
    ],
)
def test_other_calls_say_what_they_reach(step: str, risk: Risk, sentence: str) -> None:
    change = compare(bundle(GREET), bundle(GREET, f'  - {{id: new, uses: "{step}"}}\n'))
    assert list(workflow_change.reasons(change)) == [(risk, f"The workflow starts to call {sentence}.")]


def test_a_pure_call_and_one_that_was_there_need_no_word() -> None:
    change = compare(bundle(WRITE), bundle(WRITE, GREET, WRITE.replace("id: write", "id: again")))
    assert [call.name for call in change.calls] == ["text.template"]
    assert list(workflow_change.reasons(change)) == []


def test_calls_of_routers_and_scatters_count() -> None:
    router = "  - {id: new, config: {router: {on: inputs.a, cases: {x: ledger.entry.write}, default: text.fetch}}}\n"
    scatter = "  - {id: both, config: {scatter: {capabilities: [no.such, text.template]}}}\n"
    names = [call.name for call in compare(bundle(GREET), bundle(GREET, router, scatter)).calls]
    assert names == ["ledger.entry.write", "text.fetch", "no.such"]


def test_a_person_who_is_no_longer_asked_is_a_reason() -> None:
    approved = GREET.replace("}}\n", "}, config: {approvers: {roles: [owner]}}}\n")
    for before, after, step in (
        (bundle(GREET, ASK), bundle(GREET), "ask"),
        (bundle(approved), bundle(GREET), "greet"),
        (bundle(GREET, ASK), bundle(GREET, ASK.replace("human.approve", "text.fetch")), "ask"),
    ):
        found = [reason for risk, reason in workflow_change.reasons(compare(before, after)) if risk is Risk.HIGH]
        assert found == [f"The workflow no longer asks a person in step {step}."]


def test_a_step_that_only_moves_in_the_file_is_the_same() -> None:
    before = bundle(
        GREET.replace("}}\n", "}, config: {depends_on: []}}\n"), WRITE.replace("}\n", ", config: {depends_on: []}}\n")
    )
    after = bundle(text="# A comment\n" + before[FILE].decode())
    assert set(compare(before, after).states.values()) == {"unchanged"}
    changed = compare(before, bundle(text=before[FILE].decode().replace("Hello", "Hi")))
    assert dict(changed.states) == {"greet": "changed", "write": "unchanged"}


def test_a_workflow_that_comes_or_goes() -> None:
    new = compare(None, bundle(GREET, WRITE))
    assert new.is_new and set(new.states.values()) == {"added"}
    gone = compare(bundle(GREET, ASK), None)
    assert gone.is_gone and set(gone.states.values()) == {"removed"}
    assert gone.ended == ("text.template", "human.approve")
    assert list(workflow_change.reasons(gone)) == []
    assert workflow_change.compare(bundle(GREET), bundle(GREET), KNOWN) is None
    assert workflow_change.compare(None, None, KNOWN) is None


def test_a_workflow_that_cannot_run_removes_nothing() -> None:
    change = compare(bundle(GREET, ASK), bundle(text="id: ["))
    assert change.after is None and not change.is_gone and change.states == {}


def test_unknown_registrations_are_not_called_missing() -> None:
    change = compare(bundle(GREET), bundle(GREET, WRITE), None)
    assert list(workflow_change.reasons(change)) == [(Risk.MEDIUM, "The workflow starts to call ledger.entry.write.")]


def test_the_assessment_of_a_proposal_has_the_reasons_and_the_risk() -> None:
    found = assessment.assess(bundle(GREET), bundle(GREET, WRITE), name="greeting", registered=KNOWN)
    assert found.risk is Risk.HIGH
    assert any(reason.startswith("The workflow starts to call ledger.entry.write") for reason in found.reasons)
