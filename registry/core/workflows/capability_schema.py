"""The JSON Schema of a capability file, as the site reads it.

Whatever it refuses, the parser refuses too. The parser also checks what a schema cannot: gates and capabilities that
have to exist, references, and whether the binding keeps the limits of `safety`.
"""

from registry.core import roles
from registry.core.workflows import (
    binding_templates,
    capability_bindings,
    capability_safety,
    capability_yaml,
    control_flow,
    fields,
    heading,
    names,
    steps,
)
from registry.core.workflows.capability import BUILTIN, HTTP, LLM, MCP, ON_FAIL, SKILL
from registry.core.workflows.outputs import COGNITIVE_TYPES
from registry.core.workflows.workflow_schema import (
    SCALAR,
    Schema,
    choice,
    field,
    list_of,
    map_of,
    number,
    optional,
    part,
    text,
)  # fmt: skip

FILE = "capability.schema.json"
_FLAG: Schema = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}


def schema() -> Schema:
    """Return the schema of a capability file as a JSON value."""
    fields_ = optional({"type": "object", "additionalProperties": {"$ref": "#/$defs/field"}})
    id_ = {"type": SCALAR, "maxLength": names.ID_CHARS, "pattern": f"^{names.CAPABILITY_ID}$"}
    named = {"anyOf": [id_, {"enum": ["", None]}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "A capability that steps of workflows can call",
        "description": "One capability a file. An empty value is the same as no key.",
        **map_of(
            {
                "id": id_ | {"description": "Lowercase words with dots between them, such as `ledger.entry.write`."},
                "version": text("The version of the definition.", most=heading.VERSION_CHARS, nullable=False),
                "description": text("One sentence. People read it before they approve.", most=fields.DESCRIPTION_CHARS),
                "extends": named | {"description": "Inherit everything of another capability. Only stricter."},
                "inputs": fields_ | {"description": "Values that a call needs."},
                "outputs": fields_ | {"description": "Values that a call returns."},
                "properties": part(
                    side_effects=_FLAG, idempotent=_FLAG, deterministic=_FLAG, state_access={}, audit_level={}
                ),
                "safety": optional({"$ref": "#/$defs/safety"}),
                "cognitive_hints": part(role=_roles(), consumes=optional(_types()), produces=optional(_produces())),
                "aliases": optional(list_of(id_, most=capability_yaml.MOST_ALIASES)),
                "deprecated": _FLAG,
                "replacement": named,
                "binding": {"$ref": "#/$defs/binding"},
                **{key: {"description": "Not used."} for key in ("name", "metadata", "requires")},
            },
            required=("id", "version"),
        ),
        "anyOf": [{"required": ["binding"]}, {"required": ["extends"]}],
        "$defs": {"field": field(), "safety": _safety(id_), "gate": _gate(id_), "binding": _binding()},
    }


def _safety(id_: Schema) -> Schema:
    gates = optional(
        list_of({"anyOf": [id_ | {"type": "string"}, {"$ref": "#/$defs/gate"}]}, most=capability_safety.MOST_GATES)
    )
    return map_of(
        {
            "trust_level": choice(roles.TRUST_LEVELS),
            "requires_confirmation": _FLAG,
            "mandatory_pre_gates": gates,
            "mandatory_post_gates": gates,
            "approvers": part(
                people=optional(list_of({"type": SCALAR})),
                roles=optional(list_of({"enum": list(roles.ROLES)})),
                count=number(control_flow.APPROVALS),
            ),
            "data_classification": choice(capability_safety.CLASSIFICATIONS),
            "reversible": _FLAG,
            "allowed_targets": optional(list_of({"enum": list(capability_safety.TARGETS)})),
            "scope_constraints": optional(list_of({"enum": list(capability_safety.CONSTRAINTS)})),
        }
    )


def _gate(id_: Schema) -> Schema:
    mapping = {"description": "Values, and references such as `input.text`.", "type": "object"}
    properties = {"capability": id_, "input": optional(mapping), "on_fail": choice(ON_FAIL)}
    return map_of(properties, required=("capability",))


def _roles() -> Schema:
    return {"anyOf": [choice(capability_yaml.ROLES), list_of({"enum": list(capability_yaml.ROLES)})]}


def _types() -> Schema:
    return list_of({"enum": list(COGNITIVE_TYPES)})


def _produces() -> Schema:
    types = {"enum": list(COGNITIVE_TYPES)}
    typed = map_of({"type": types, "target": text("A target, such as `working.risks`.")}, required=("type",))
    return {"type": "object", "additionalProperties": {"anyOf": [types, typed]}}


def _binding() -> Schema:
    texts = optional({"type": "object", "additionalProperties": {"type": SCALAR}})
    name = text("A name.", most=capability_bindings.NAME_CHARS, nullable=False)
    url = text("An address. Only headers may have secrets.", most=capability_bindings.URL_CHARS, nullable=False)
    common: Schema = {"outputs": texts, "timeout_seconds": number(steps.TIMEOUT_SECONDS)}
    prompt = text("A text with places such as `{{text}}`.", most=capability_bindings.PROMPT_CHARS, nullable=False)
    method = {"type": ["string", "null"], "pattern": f"^(?i:{'|'.join(binding_templates.METHODS)})?$"}
    kinds: dict[str, tuple[Schema, tuple[str, ...]]] = {
        BUILTIN: ({"function": name}, ("function",)),
        SKILL: ({"name": name}, ("name",)),
        HTTP: (
            {
                "url": url, "method": method, "query": optional({"type": "object"}), "headers": texts,
                "body": {"description": "`input` for all inputs, or a template."},
                "idempotency_header": text("A name."), **common,
            },
            ("url",),
        ),
        MCP: (
            {
                "tool": name, "url": optional(url), "headers": texts, "command": optional(name),
                "args": optional(list_of({"type": SCALAR})), "env": texts,
                "arguments": {"description": "`input` for all inputs, or a template."}, **common,
            },
            ("tool",),
        ),
        LLM: (
            {
                "prompt": prompt, "system": optional(prompt), "model": optional(name), "json": _FLAG,
                "max_tokens": number(capability_bindings.MAX_TOKENS), "outputs": texts,
                "temperature": number(capability_bindings.TEMPERATURE),
            },
            ("prompt",),
        ),
    }  # fmt: skip
    forms = [
        map_of({"kind": {"const": kind}, **keys}, required=("kind", *needed)) for kind, (keys, needed) in kinds.items()
    ]
    return {"anyOf": [*forms, {"type": "null"}]}
