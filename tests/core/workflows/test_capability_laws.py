"""Laws of capability files: nothing escapes but findings, and nothing that extends a capability is weaker."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.core import roles
from registry.core.findings import errors
from registry.core.workflows import capability_linking, capability_yaml, documents
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_safety import CLASSIFICATIONS, CONSTRAINTS, TARGETS
from registry.core.workflows.capability_scope import OPERATOR, OWNER
from tests.core.workflows.definitions import BUILT_IN, LEDGER, SITE, text

_SOURCES = [
    documents.load(content, file="a.yaml").value
    for content in (
        LEDGER, text(binding="", extends="data.echo", safety="{mandatory_pre_gates: [security.pii.detect]}"),
        text(binding="{kind: llm, prompt: '{{a}}'}", cognitive_hints="{role: act, produces: {a: Risk}}"),
        text(binding="{kind: mcp, tool: a, command: b, env: {A: secret:B}}", safety="{approvers: {people: [ada]}}"),
    )
]  # fmt: skip
_LEAVES = st.sampled_from(
    [None, True, 0, 10**30, 1.5, "", "a", "a.b", "{{a}}", "{a", "input.a", "input", "secret:A", "data.echo",
     "human.input", "https://a.example/{a}", [], {}, ["a.b"], {"a": "b"}, [[]], {"": 1}, "\u2028", "é" * 300]
)  # fmt: skip


@st.composite
def _changed(draw: st.DrawFn) -> Any:
    """Return a file with a few values changed anywhere."""
    document = copy.deepcopy(draw(st.sampled_from(_SOURCES)))
    for _ in range(draw(st.integers(1, 4))):
        place = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], (dict, list)) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = copy.deepcopy(draw(_LEAVES))
            break
    return document


@given(st.lists(_changed(), min_size=1, max_size=3), st.sampled_from([OPERATOR, OWNER]))
def test_only_findings_come_out_of_changed_files(found: list[Any], author: str) -> None:
    parsed = [capability_yaml.parse(json.dumps(each), file=f"{at}.yaml") for at, each in enumerate(found)]
    assert all(bool(errors(each.findings)) is (each.draft is None) for each in parsed)
    drafts = [each.draft for each in parsed if each.draft]
    for each in capability_linking.link(drafts, BUILT_IN, SITE, author=author):
        assert bool(errors(each.findings)) is (each.capability is None)
        assert all(finding.line and finding.fix for finding in each.findings)
        if each.capability:
            assert each.capability.digest
            assert each.capability.kind


@given(st.text(max_size=200))
def test_only_findings_come_out_of_any_text(content: str) -> None:
    parsed = capability_yaml.parse(content)
    assert parsed.draft is None
    assert errors(parsed.findings)


_CONSTRAINTS = [each for each in CONSTRAINTS if each != "ephemeral_only"]
_SAFETY = st.fixed_dictionaries({}, optional={
    "trust_level": st.sampled_from(roles.TRUST_LEVELS), "requires_confirmation": st.booleans(),
    "data_classification": st.sampled_from(CLASSIFICATIONS), "reversible": st.booleans(),
    "allowed_targets": st.lists(st.sampled_from(TARGETS), max_size=2),
    "scope_constraints": st.lists(st.sampled_from(_CONSTRAINTS), max_size=2),
    "mandatory_pre_gates": st.lists(
        st.fixed_dictionaries({
            "capability": st.sampled_from(["security.pii.detect", "data.echo"]),
            "on_fail": st.sampled_from(["block", "warn", "degrade", "require_human"]),
        }), max_size=2,
    ),
    "approvers": st.fixed_dictionaries({}, optional={
        "people": st.lists(st.sampled_from(["ada", "bob", "eve"]), max_size=2, unique=True),
        "roles": st.lists(st.sampled_from(roles.ROLES), max_size=1), "count": st.integers(1, 2),
    }),
})  # fmt: skip
_PROPERTIES = st.fixed_dictionaries(
    {}, optional={key: st.booleans() for key in ("side_effects", "idempotent", "deterministic")}
)
_STRICTNESS = {"warn": 0, "require_human": 1, "degrade": 2, "block": 3}


@given(_SAFETY, _SAFETY, _PROPERTIES, _PROPERTIES)
def test_what_extends_a_capability_is_never_weaker(
    base_safety: Any, own_safety: Any, base_properties: Any, own_properties: Any
) -> None:
    base = text("a.base", safety=json.dumps(base_safety), properties=json.dumps(base_properties))
    child = text(
        "a.child", binding="", extends="a.base", safety=json.dumps(own_safety), properties=json.dumps(own_properties)
    )  # fmt: skip
    parsed = [capability_yaml.parse(content).draft for content in (base, child)]
    if None in parsed:
        return
    old, new = (each.capability for each in capability_linking.link([each for each in parsed if each], BUILT_IN, SITE))
    if old and new:
        _assert_not_weaker(old, new)


def _assert_not_weaker(old: Capability, new: Capability) -> None:
    before, after = old.safety, new.safety
    assert roles.TRUST_LEVELS.index(after.trust_level) >= roles.TRUST_LEVELS.index(before.trust_level)
    assert after.requires_confirmation or not before.requires_confirmation
    assert after.reversible is False or before.reversible is not False
    ranks = ["", *CLASSIFICATIONS]
    assert ranks.index(after.data_classification) >= ranks.index(before.data_classification)
    assert set(before.scope_constraints) <= set(after.scope_constraints)
    assert not before.allowed_targets or set() < set(after.allowed_targets) <= set(before.allowed_targets)
    kept = {gate.capability: gate.on_fail for gate in after.pre_gates}
    for gate in before.pre_gates:
        assert _STRICTNESS[kept[gate.capability]] >= _STRICTNESS[gate.on_fail]
    if before.approvers and after.approvers:
        assert after.approvers.count >= before.approvers.count
        for name, role in (("ada", "viewer"), ("bob", "reviewer"), ("eve", "owner"), ("zoe", "owner")):
            assert before.approvers.include(name, role) or not after.approvers.include(name, role)
    assert after.approvers or not before.approvers
    assert new.properties.side_effects or not old.properties.side_effects
    assert old.properties.idempotent or not new.properties.idempotent
    assert old.properties.deterministic or not new.properties.deterministic
