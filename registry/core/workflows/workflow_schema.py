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
SCALAR = ["string", "number", "boolean"]  # text may be written without quotes


def schema() -> Schema:
    """Return the schema of a workflow file as a JSON value."""
    fields_ = optional({"type": "object", "additionalProperties": {"$ref": "#/$defs/field"}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "The steps of a skill: workflow.yaml",
        "description": "It lies beside SKILL.md. An empty value is the same as no key, except for `depends_on`.",
        **map_of(
            {
                "id": {
                    "description": "Lowercase words with dots between them, such as `text.hello-world`.",
                    "type": SCALAR,
                    "maxLength": names.ID_CHARS,
                    "pattern": f"^{names.CAPABILITY_ID}$",
                },
                "version": text("The version of the workflow.", most=heading.VERSION_CHARS, nullable=False),
                "description": text("For people.", most=fields.DESCRIPTION_CHARS),
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
            "field": field(),
            "step": _step(),
            "config": _config(),
            "expression": text("An expression, such as `vars.score > 0.8`.", most=TEXT_CHARS, nullable=False),
            "used": {
                "description": "The id of a capability, or `skill:NAME` for a nested skill.",
                "type": SCALAR,
                "pattern": f"^(?:{names.CAPABILITY_ID}|{names.SKILL})$",
            },
        },
    }


def field() -> Schema:
    return map_of(
        {
            "type": {"enum": list(TYPES)},
            "required": optional({"type": "boolean"}),
            "description": text("For people.", most=fields.DESCRIPTION_CHARS),
            "default": {"description": "For an input that is missing."},
        },
        required=("type",),
    )


def _step() -> Schema:
    return map_of(
        {
            "id": {"type": SCALAR, "pattern": f"^{names.STEP_ID}$"},
            "uses": {
                "description": "Not needed beside `router` or `scatter`.",
                "anyOf": [{"$ref": "#/$defs/used"}, _NULL, {"enum": ["_scatter", "_router"]}],
            },
            "input": optional({"description": "Values and references, such as `inputs.name`.", "type": "object"}),
            "output": optional(
                {
                    "description": "Targets by the fields that the step returns.",
                    "type": "object",
                    "additionalProperties": {
                        "type": "string",
                        "pattern": rf"^(?:{'|'.join(targets.WRITABLE)})[.\[]",
                    },
                }
            ),
            "config": optional({"$ref": "#/$defs/config"}),
        },
        required=("id",),
    )


def _config() -> Schema:
    used, expression = {"$ref": "#/$defs/used"}, {"$ref": "#/$defs/expression"}
    return map_of(
        {
            "depends_on": list_of({"type": SCALAR}),
            "timeout_seconds": number(steps.TIMEOUT_SECONDS),
            "merge_strategy": choice(plan.STRATEGIES),
            "condition": optional(expression),
            "retry": part(
                max_attempts=number(control_flow.ATTEMPTS),
                backoff_seconds=number(control_flow.BACKOFF_SECONDS),
                backoff_multiplier=number(control_flow.BACKOFF_MULTIPLIER),
            ),
            "foreach": part("items", items=expression, **{"as": text("A name."), "index_as": text("A name.")}),
            "while": part("condition", condition=expression, max_iterations=number(control_flow.ITERATIONS)),
            "router": part(
                "on",
                "cases",
                on=expression,
                default=optional(used),
                cases={"type": "object", "minProperties": 1, "additionalProperties": used},
            ),
            "scatter": part(
                "capabilities",
                capabilities=list_of(used, control_flow.FEWEST_SCATTER, plan.MOST_SCATTER),
                merge=choice(plan.SCATTER_MERGES),
            ),
            "approvers": part(
                people=optional(list_of({"type": SCALAR})),
                roles=optional(list_of({"enum": list(roles.ROLES)})),
                count=number(control_flow.APPROVALS),
            ),
            "expires_seconds": number(steps.EXPIRES_SECONDS),
            "on_deny": text("The step that runs if a person denies this one."),
        }
    )


def map_of(properties: Schema, required: Iterable[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def part(*required: str, **properties: Schema) -> Schema:
    return optional(map_of(properties, required))


def optional(one: Schema) -> Schema:
    return {"anyOf": [one, _NULL]}


def list_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    counted = {"minItems": least} | ({"maxItems": most} if most else {})
    return {"type": "array", "items": items, **counted}


def number(bounds: Bounds) -> Schema:
    low = "exclusiveMinimum" if bounds.above else "minimum"
    kind = "integer" if bounds.integer else "number"
    return optional({"type": kind, low: bounds.low, "maximum": bounds.high})


def choice(choices: Iterable[str]) -> Schema:
    return {"enum": [*choices, "", None]}


def text(description: str, *, most: int = TEXT_CHARS, nullable: bool = True) -> Schema:
    kinds = [*SCALAR, "null"] if nullable else SCALAR
    return {"description": description, "type": kinds, "maxLength": most}
