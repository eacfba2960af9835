"""Definitions of capabilities as JSON: what their digest covers, and what programs read."""

from dataclasses import asdict, replace
from typing import Any

from registry.core.workflows.capability import Capability, Gate, Safety
from registry.core.workflows.values import Field, Json, digest


def sealed(capability: Capability) -> Capability:
    """Return a capability with its document and its digest."""
    form = document(capability)
    return replace(capability, document=form, digest=digest(form))


def document(capability: Capability) -> dict[str, Any]:
    """Return the JSON form of a definition. Values that nobody set are left out of `safety` and at the top."""
    hints = capability.hints
    named = {
        "aliases": list(capability.aliases),
        "deprecated": capability.deprecated,
        "replacement": capability.replacement,
    }
    return {
        "id": capability.id,
        "version": capability.version,
        "description": capability.description,
        "inputs": {name: _field(field) for name, field in capability.inputs.items()},
        "outputs": {name: _field(field) for name, field in capability.outputs.items()},
        "properties": asdict(capability.properties),
        "safety": safety(capability.safety),
        "cognitive_hints": {
            "role": list(hints.role),
            "consumes": list(hints.consumes),
            "produces": {
                name: {"type": made.type} | ({"target": made.target} if made.target else {})
                for name, made in hints.produces.items()
            },
        },
        "binding": dict(capability.binding),
        **{key: value for key, value in named.items() if value},
    }


def safety(found: Safety) -> dict[str, Json]:
    """Return the safety of a definition in the words of its file. Empty for the defaults."""
    if found == Safety():
        return {}
    lists = {"allowed_targets": found.allowed_targets, "scope_constraints": found.scope_constraints}
    gates = {"mandatory_pre_gates": found.pre_gates, "mandatory_post_gates": found.post_gates}
    form: dict[str, Json] = {
        "trust_level": found.trust_level,
        "requires_confirmation": found.requires_confirmation,
        **{key: [_gate(gate) for gate in value] for key, value in gates.items() if value},
        **{key: list(value) for key, value in lists.items() if value},
    }
    if found.approvers is not None:
        approvers = found.approvers
        form["approvers"] = {
            "people": list(approvers.people), "roles": list(approvers.roles), "count": approvers.count,
        }  # fmt: skip
    if found.data_classification:
        form["data_classification"] = found.data_classification
    if found.reversible is not None:
        form["reversible"] = found.reversible
    return form


def _gate(gate: Gate) -> dict[str, Json]:
    form: dict[str, Json] = {"capability": gate.capability, "on_fail": gate.on_fail}
    return form if gate.input is None else form | {"input": dict(gate.input)}


def _field(field: Field) -> dict[str, Json]:
    form: dict[str, Json] = {"type": field.type, "required": field.required, "description": field.description}
    return form | ({"default": field.default} if field.has_default else {})
