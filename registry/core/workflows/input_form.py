"""The fields that a workflow asks a person for, as the input of `human.input` declares them."""

from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.values import TYPES, Field, Fields, Json, fits

MOST_FIELDS = 50


def declared_fields(declared: Json) -> Fields:
    """Return the fields of `{"name": {"type": "string", "required": true}}`. Raise StepFailed with what is wrong."""
    if not isinstance(declared, dict) or not declared:
        raise _wrong("fields is not an object with at least one field")
    if len(declared) > MOST_FIELDS:
        raise _wrong(f"there are {len(declared):,} fields, and {MOST_FIELDS} are allowed")
    return {name: _field(name, given) for name, given in declared.items()}


def _field(name: str, given: Json) -> Field:
    given = {"type": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or given.get("type", "string") not in TYPES:
        raise _wrong(f"the field {name} has no type. Types are {', '.join(TYPES)}")
    type_, default = given.get("type", "string"), given.get("default")
    if default is not None and not fits(default, type_):
        raise _wrong(f"the default of {name} is no {type_}")
    return Field(
        name, type_, given.get("required") is True, str(given.get("description") or ""), default, default is not None
    )


def _wrong(reason: str) -> StepFailed:
    return StepFailed(Code.INPUT, f"The question cannot be asked, because {reason}.")
