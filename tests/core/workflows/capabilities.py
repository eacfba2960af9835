"""Capabilities for tests."""

from dataclasses import replace

from registry.core.workflows.capability import Capability, Hints, Produced, Properties
from registry.core.workflows.values import Field

SAFE = Properties(side_effects=False, idempotent=True, deterministic=True)


def capability(id_: str, inputs: dict[str, str] | None = None, outputs: dict[str, str] | None = None) -> Capability:
    """Return a capability without side effects. A type with a `!` is of a required input."""
    return Capability(
        id=id_,
        version="1.0.0",
        description="",
        inputs={
            name: Field(name, type_.rstrip("!"), required=type_.endswith("!")) for name, type_ in (inputs or {}).items()
        },
        outputs={name: Field(name, type_) for name, type_ in (outputs or {}).items()},
        binding={"kind": "builtin"},
        properties=SAFE,
    )


TEMPLATE = capability("text.template", {"template": "string!", "variables": "object"}, {"text": "string"})
COUNT = capability("data.count", {"items": "array!"}, {"count": "integer", "facts": "object"})
RISKS = replace(
    capability("risk.find", {"text": "string"}, {"risks": "array", "note": "string"}),
    hints=Hints(produces={"risks": Produced("Risk"), "note": Produced("Summary", "vars.note")}),
)
DECIDE = replace(capability("risk.decide"), hints=Hints(consumes=("Risk",)))
WRITE = replace(capability("ledger.write"), properties=Properties())
GUARDED = replace(WRITE, id="ledger.guarded", has_safety=True)
OLD = replace(capability("text.old"), deprecated=True, replacement="text.template")
NAMED = replace(capability("text.named", outputs={"text": "string"}), aliases=("text.alias",))

ALL = {each.id: each for each in (TEMPLATE, COUNT, RISKS, DECIDE, WRITE, GUARDED, OLD, NAMED)}
