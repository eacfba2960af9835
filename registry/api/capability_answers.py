"""Answers about capabilities and single calls of them."""

from collections.abc import Iterable
from typing import Annotated, Any, NotRequired, TypedDict

from registry.api.run_answers import RUN_STATES
from registry.core import roles
from registry.core.workflows.capability import BINDINGS, ON_FAIL, Capability, Gate, Safety
from registry.core.workflows.plan import Approvers
from registry.core.workflows.values import TYPES, Field, Fields
from registry.lib.json_types import OneOf
from registry.models import Run
from registry.services.capabilities import capability_registry
from registry.services.capabilities.capability_registry import BUILT_IN, OPERATOR, PROJECT

_ANY = "any"


class FieldShape(TypedDict):
    type: Annotated[str, OneOf((*TYPES, _ANY))]
    required: bool
    description: str
    default: NotRequired[Any]


class GateShape(TypedDict):
    capability: str
    on_fail: Annotated[str, OneOf(ON_FAIL)]


class ApproversShape(TypedDict):
    people: list[str]
    roles: list[str]
    count: int


class SafetyShape(TypedDict):
    trust_level: Annotated[str, OneOf(roles.TRUST_LEVELS)]
    requires_confirmation: bool
    pre_gates: list[GateShape]
    post_gates: list[GateShape]
    approvers: ApproversShape | None
    data_classification: str
    reversible: bool | None
    allowed_targets: list[str]
    scope_constraints: list[str]


class PropertiesShape(TypedDict):
    side_effects: bool
    idempotent: bool
    deterministic: bool


class DefinitionShape(TypedDict):
    id: str
    version: str
    description: str
    kind: Annotated[str, OneOf(BINDINGS), "How it is called."]
    source: Annotated[str, OneOf((BUILT_IN, OPERATOR, PROJECT)), "Who registered it."]
    target: Annotated[str, "What a call reaches, such as a host. Empty for what runs in the worker itself."]
    inputs: dict[str, FieldShape]
    outputs: dict[str, FieldShape]
    safety: SafetyShape
    properties: PropertiesShape
    aliases: list[str]
    deprecated: bool
    replacement: str
    digest: Annotated[str, "Of the whole definition."]


class DefinitionsPage(TypedDict):
    results: list[DefinitionShape]
    next: str | None


class CallShape(TypedDict):
    run: Annotated[int, "The run that makes the call. Its address has everything about it."]
    state: Annotated[str, OneOf(RUN_STATES)]
    capability: str
    outputs: Annotated[Any, "Null until the call completed."]


def definition_shape(capability: Capability) -> DefinitionShape:
    properties = capability.properties
    return {
        "id": capability.id,
        "version": capability.version,
        "description": capability.description,
        "kind": capability.kind,
        "source": capability_registry.source_of(capability.id),
        "target": capability.target,
        "inputs": _fields(capability.inputs),
        "outputs": _fields(capability.outputs),
        "safety": _safety(capability.safety),
        "properties": {
            "side_effects": properties.side_effects,
            "idempotent": properties.idempotent,
            "deterministic": properties.deterministic,
        },
        "aliases": list(capability.aliases),
        "deprecated": capability.deprecated,
        "replacement": capability.replacement,
        "digest": capability.digest,
    }


def _fields(fields: Fields) -> dict[str, FieldShape]:
    return {name: _field(field) for name, field in fields.items()}


def _field(field: Field) -> FieldShape:
    shape: FieldShape = {
        "type": field.type or _ANY,
        "required": field.required,
        "description": field.description,
    }
    if field.has_default:
        shape["default"] = field.default
    return shape


def _safety(safety: Safety) -> SafetyShape:
    return {
        "trust_level": safety.trust_level,
        "requires_confirmation": safety.requires_confirmation,
        "pre_gates": _gates(safety.pre_gates),
        "post_gates": _gates(safety.post_gates),
        "approvers": _approvers(safety.approvers) if safety.approvers else None,
        "data_classification": safety.data_classification,
        "reversible": safety.reversible,
        "allowed_targets": list(safety.allowed_targets),
        "scope_constraints": list(safety.scope_constraints),
    }


def _gates(gates: Iterable[Gate]) -> list[GateShape]:
    return [{"capability": gate.capability, "on_fail": gate.on_fail} for gate in gates]


def _approvers(approvers: Approvers) -> ApproversShape:
    return {"people": list(approvers.people), "roles": list(approvers.roles), "count": approvers.count}


def call_shape(run: Run, outputs: Any = None) -> CallShape:
    return {"run": run.pk, "state": run.state, "capability": run.skill, "outputs": outputs}
