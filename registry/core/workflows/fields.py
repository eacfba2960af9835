"""Inputs and outputs in YAML files: names, types and defaults."""

from registry.core.findings import Severity
from registry.core.workflows.names import is_field_name
from registry.core.workflows.sections import IGNORED, MISSING, Section, shown
from registry.core.workflows.values import TYPES, Field, Fields, fits

NAME, DEFAULT, REQUIRED_DEFAULT = "workflow-field-name", "workflow-default", "workflow-default-required"
DESCRIPTION_CHARS = 4_000


def inputs(section: Section, key: str = "inputs") -> Fields:
    """Read the fields below a key. Fields with problems are left out or have a plausible type."""
    return {name: _field(field, name, has_default=True) for name, field in _named(section, key)}


def outputs(section: Section, key: str = "outputs") -> Fields:
    return {name: _field(field, name, has_default=False) for name, field in _named(section, key)}


def _named(section: Section, key: str) -> list[tuple[str, Section]]:
    fields = section.section(key)
    found = []
    for name, field in fields.sections() if fields else ():
        if not is_field_name(name):
            fields.problem(  # type: ignore[union-attr]
                NAME,
                name,
                "is not a valid name.",
                "Use letters, digits, `_` and `-`, at most 64, with a letter at the start.",
            )
        elif field:
            found.append((name, field))
        elif fields and fields.value[name] is None:
            fields.problem(MISSING, name, "has no type.", f"Write `{name}: {{type: string}}`.")
    return found


def _field(section: Section, name: str, *, has_default: bool) -> Field:
    type_ = section.choice("type", TYPES, "")
    if section.get("type") in (None, ""):
        section.missing("type", f"Add `type:` with one of {', '.join(TYPES)}.")
    required, description = section.flag("required"), section.text("description", most=DESCRIPTION_CHARS)
    default = section.get("default")
    section.unknown_keys()
    if default is None:
        return Field(name, type_ or "string", required, description)
    if not has_default:
        section.problem(IGNORED, "default", "is not used. Only inputs have defaults.", "Remove it.", Severity.HINT)
        return Field(name, type_ or "string", required, description)
    if type_ and not fits(default, type_):
        fix = "Put it in quotes." if type_ == "string" and isinstance(default, (bool, int, float)) else ""
        message = f"is {shown(default)}, which does not fit the type {type_}."
        section.problem(DEFAULT, "default", message, fix or f"Write a value of the type {type_}.")
    if required:
        message = "is never needed to be given, because there is a default."
        section.problem(REQUIRED_DEFAULT, "required", message, "Remove `required` or `default`.", Severity.WARNING)
    return Field(name, type_ or "string", required, description, default, has_default=True)
