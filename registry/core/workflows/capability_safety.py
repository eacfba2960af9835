"""The `safety` block of a capability file."""

from collections.abc import Collection, Mapping

from registry.core import roles
from registry.core.text.nearest import nearest_of
from registry.core.workflows import control_flow, names, references
from registry.core.workflows.capability import BLOCK, DEGRADE, ON_FAIL, REQUIRE_HUMAN, WARN, Gate, Safety
from registry.core.workflows.problems import Problems
from registry.core.workflows.sections import VALUE, Section, shown
from registry.core.workflows.values import Json

GATE = "capability-gate"
MOST_GATES = 20

# From the least strict reaction to an objection to the strictest one.
STRICTNESS = (WARN, REQUIRE_HUMAN, DEGRADE, BLOCK)

CLASSIFICATIONS = ("public", "internal", "pii", "confidential", "restricted")
INTERNAL_ONLY, SAME_TENANT, APPROVED_CONNECTORS = "internal_only", "same_tenant", "approved_connectors"
TARGETS = (INTERNAL_ONLY, SAME_TENANT, APPROVED_CONNECTORS)
READ_ONLY, NO_EXTERNAL_NETWORK = "read_only", "no_external_network"
SANDBOXED, NO_CREDENTIALS, EPHEMERAL = "sandboxed_execution", "no_credential_passthrough", "ephemeral_only"
CONSTRAINTS = (READ_ONLY, NO_EXTERNAL_NETWORK, SANDBOXED, NO_CREDENTIALS, EPHEMERAL)

_GATE_FORM = "the id of a capability, or `{capability: …, input: {…}, on_fail: block}`"


def read(root: Section) -> Safety | None:
    """Read the block. None if the file has none."""
    section = root.section("safety")
    if section is None:
        return None
    found = Safety(
        trust_level=section.choice("trust_level", roles.TRUST_LEVELS, roles.STANDARD),
        requires_confirmation=section.flag("requires_confirmation"),
        pre_gates=_gates(section, "mandatory_pre_gates", ("input",)),
        post_gates=_gates(section, "mandatory_post_gates", ("input", "output")),
        approvers=control_flow.approvers(section),
        data_classification=section.choice("data_classification", CLASSIFICATIONS, ""),
        reversible=None if section.get("reversible") is None else section.flag("reversible"),
        allowed_targets=_choices(section, "allowed_targets", TARGETS),
        scope_constraints=_choices(section, "scope_constraints", CONSTRAINTS),
    )
    section.unknown_keys(
        {
            "pre_gates": ("is not read.", "Rename it to `mandatory_pre_gates`."),
            "post_gates": ("is not read.", "Rename it to `mandatory_post_gates`."),
        }
    )
    return found


def _choices(section: Section, key: str, choices: Collection[str]) -> tuple[str, ...]:
    """Read a list of known words. An unknown one is refused, because nobody could enforce it."""
    listed = section.texts(key, f"a list of {', '.join(choices)}")
    for at, text in enumerate(listed):
        if text not in choices:
            near = nearest_of(choices, cutoff=0.5)(text)
            fix = f"Did you mean `{near}`?" if near else f"Use some of {', '.join(choices)}."
            message = f"{section.label(key)} cannot have {shown(text)}."
            section.problems.add(VALUE, (*section.path, key, at), message, fix)
    return tuple(dict.fromkeys(text for text in listed if text in choices))


def _gates(section: Section, key: str, readable: tuple[str, ...]) -> tuple[Gate, ...]:
    value = section.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        section.refuse(key, value, f"a list with {_GATE_FORM}")
        return ()
    if len(value) > MOST_GATES:
        section.problem(GATE, key, f"has {len(value):,} gates. {MOST_GATES} are allowed.", "Remove some of them.")
    found = []
    for at, item in enumerate(value[:MOST_GATES]):
        path = (*section.path, key, at)
        if isinstance(item, str) and item:
            gate = Gate(item)
        elif isinstance(item, dict):
            gate = _gate(Section(section.problems, path, item, f" of gate {at + 1}", f"{section.prefix}{key}."))
        else:
            message = f"Gate {at + 1} of {section.label(key)} is {shown(item)}."
            section.problems.add(VALUE, path, message, f"Write {_GATE_FORM}.")
            continue
        if gate.capability and not names.is_capability_id(gate.capability):
            message = f"Gate {at + 1} of {section.label(key)} is {shown(gate.capability)}."
            section.problems.add(GATE, path, message, "Write the id of a capability, such as `security.pii.detect`.")
        elif gate.capability:
            check_references(section.problems, path, gate, readable)
            found.append(gate)
    return tuple(found)


def _gate(section: Section) -> Gate:
    capability = section.text("capability")
    if not capability and section.get("capability") in (None, ""):
        section.missing("capability", "Add `capability:` with the id of the gate.")
    mapped = section.section("input")
    gate = Gate(capability, mapped.value if mapped else None, section.choice("on_fail", ON_FAIL, BLOCK))
    section.unknown_keys()
    return gate


def check_references(problems: Problems, path: tuple[str | int, ...], gate: Gate, readable: tuple[str, ...]) -> None:
    """Report references that a gate cannot read: it sees only the guarded call."""
    mapped: Mapping[str, Json] = gate.input or {}
    for name, value in mapped.items():
        for found in references.references(value, ("input", "output")):
            if found[0] in readable:
                continue
            what = references.show(found)
            message = f"The input `{name}` of the gate `{gate.capability}` reads `{what}`, which a gate cannot read."
            fix = " or ".join(f"`{root}.NAME`" for root in readable)
            problems.add(GATE, (*path, "input", name), message, f"Use {fix}.")
