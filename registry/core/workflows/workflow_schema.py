"""The JSON Schema of `workflow.yaml`, as the site reads it.

Whatever it refuses, the parser refuses too. The parser also checks what a schema cannot: dependencies, expressions and
names that have to exist.
"""

from collections.abc import Iterable
from typing import Any

from registry.core import roles
from registry.core.workflows import control_flow, fields, heading, names, plan, steps, targets
from registry.core.workflows.sections import TEXT_CHARS, Bounds
from registry.core.workflows.values import TYPES

FILE = "workflow.schema.json"

Schema = dict[str, Any]
_NULL: Schema = {"type": "null"}
_SCALAR = ["string", "number", "boolean"]  # text may be written without quotes


def schema() -> Schema:
    """Return the schema of a workflow file as a JSON value."""
    fields_ = _optional({"type": "object", "additionalProperties": {"$ref": "#/$defs/field"}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "The steps of a skill: workflow.yaml",
        "description": "It lies beside SKILL.md. An empty value is the same as no key, except for `depends_on`.",
        **_map(
            {
                "id": {
                    "description": "Lowercase words with dots between them, such as `text.hello-world`.",
                    "type": _SCALAR,
                    "maxLength": names.ID_CHARS,
                    "pattern": f"^{names.CAPABILITY_ID}$",
                },
                "version": _text("The version of the workflow.", most=heading.VERSION_CHARS, nullable=False),
                "description": _text("For people.", most=fields.DESCRIPTION_CHARS),
                "inputs": fields_ | {"description": "Values that a run needs."},
                "outputs": fields_ | {"description": "Values that a run returns."},
                "steps": {
                    "description": "The steps, in the order in which they run if they do not say `depends_on`.",
                    "type": "array",
                    "minItems": 1,
                    "maxItems": plan.MOST_STEPS,
                    "items": {"$ref": "#/$defs/step"},
                },
                **{key: {"description": "Not used."} for key in ("name", "metadata", "triggers")},
            },
            required=("id", "version", "steps"),
        ),
        "$defs": {
            "field": _field(),
            "step": _step(),
            "config": _config(),
            "expression": _text("An expression, such as `vars.score > 0.8`.", most=TEXT_CHARS, nullable=False),
            "used": {
                "description": "The id of a capability, or `skill:NAME` for a nested skill.",
                "type": _SCALAR,
                "pattern": f"^(?:{names.CAPABILITY_ID}|{names.SKILL})$",
            },
        },
    }


def _field() -> Schema:
    return _map(
        {
            "type": {"enum": list(TYPES)},
            "required": _optional({"type": "boolean"}),
            "description": _text("For people.", most=fields.DESCRIPTION_CHARS),
            "default": {"description": "For an input that is missing."},
        },
        required=("type",),
    )


def _step() -> Schema:
    return _map(
        {
            "id": {"type": _SCALAR, "pattern": f"^{names.STEP_ID}$"},
            "uses": {
                "description": "Not needed beside `router` or `scatter`.",
                "anyOf": [{"$ref": "#/$defs/used"}, _NULL, {"enum": ["_scatter", "_router"]}],
            },
            "input": _optional({"description": "Values and references, such as `inputs.name`.", "type": "object"}),
            "output": _optional(
                {
                    "description": "Targets by the fields that the step returns.",
                    "type": "object",
                    "additionalProperties": {
                        "type": "string",
                        "pattern": rf"^(?:{'|'.join(targets.WRITABLE)})[.\[]",
                    },
                }
            ),
            "config": _optional({"$ref": "#/$defs/config"}),
        },
        required=("id",),
    )


def _config() -> Schema:
    used, expression = {"$ref": "#/$defs/used"}, {"$ref": "#/$defs/expression"}
    return _map(
        {
            "depends_on": _list({"type": _SCALAR}),
            "timeout_seconds": _number(steps.TIMEOUT_SECONDS),
            "merge_strategy": _choice(plan.STRATEGIES),
            "condition": _optional(expression),
            "retry": _part(
                max_attempts=_number(control_flow.ATTEMPTS),
                backoff_seconds=_number(control_flow.BACKOFF_SECONDS),
                backoff_multiplier=_number(control_flow.BACKOFF_MULTIPLIER),
            ),
            "foreach": _part("items", items=expression, **{"as": _text("A name."), "index_as": _text("A name.")}),
            "while": _part("condition", condition=expression, max_iterations=_number(control_flow.ITERATIONS)),
            "router": _part(
                "on",
                "cases",
                on=expression,
                default=_optional(used),
                cases={"type": "object", "minProperties": 1, "additionalProperties": used},
            ),
            "scatter": _part(
                "capabilities",
                capabilities=_list(used, control_flow.FEWEST_SCATTER, plan.MOST_SCATTER),
                merge=_choice(plan.SCATTER_MERGES),
            ),
            "approvers": _part(
                people=_optional(_list({"type": _SCALAR})),
                roles=_optional(_list({"enum": list(roles.ROLES)})),
                count=_number(control_flow.APPROVALS),
            ),
            "expires_seconds": _number(steps.EXPIRES_SECONDS),
            "on_deny": _text("The step that runs if a person denies this one."),
        }
    )


def _map(properties: Schema, required: Iterable[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _part(*required: str, **properties: Schema) -> Schema:
    return _optional(_map(properties, required))


def _optional(one: Schema) -> Schema:
    return {"anyOf": [one, _NULL]}


def _list(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    counted = {"minItems": least} | ({"maxItems": most} if most else {})
    return {"type": "array", "items": items, **counted}


def _number(bounds: Bounds) -> Schema:
    low = "exclusiveMinimum" if bounds.above else "minimum"
    kind = "integer" if bounds.integer else "number"
    return _optional({"type": kind, low: bounds.low, "maximum": bounds.high})


def _choice(choices: Iterable[str]) -> Schema:
    return {"enum": [*choices, "", None]}


def _text(description: str, *, most: int = TEXT_CHARS, nullable: bool = True) -> Schema:
    kinds = [*_SCALAR, "null"] if nullable else _SCALAR
    return {"description": description, "type": kinds, "maxLength": most}
