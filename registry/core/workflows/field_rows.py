"""The inputs and outputs of a workflow as rows of a form, and what their changes are in the file."""

from collections.abc import Mapping
from typing import Any

from registry.core.errors import SkillsiteError
from registry.core.format.yaml_edits import REMOVED, Renamed
from registry.core.workflows import step_cards
from registry.core.workflows.documents import Document
from registry.core.workflows.names import is_field_name
from registry.core.workflows.step_cards import Edits
from registry.core.workflows.values import STRING

INPUTS, OUTPUTS = KINDS = ("inputs", "outputs")
COLUMNS = ("name", "type", "required", "default", "description")
YES = "yes"  # of `required`

Rows = list[dict[str, str]]


def rows(document: Document | None, kind: str) -> Rows:
    """Return the fields of a workflow in the order of the file."""
    value = document.value.get(kind) if document and isinstance(document.value, dict) else None
    return [_row(document, kind, name, each) for name, each in value.items()] if isinstance(value, dict) else []


def edits(kind: str, shown: Rows, typed: Rows) -> Edits:
    """Return what changed between the rows of a form and what was typed into them. Rows behind them are new ones.

    An empty name removes a field. Errors are by row and column: `inputs.0.name`.
    """
    found = Edits()
    shown_names = {row["name"] for row in shown}
    for number, row in enumerate(typed):
        before = shown[number] if number < len(shown) else {}
        label = f"{kind}.{number}"
        changed = {key: row[key].strip() for key in COLUMNS if row.get(key, "").strip() != before.get(key, "")}
        name = changed.pop("name", None)
        if name and (name in shown_names or not is_field_name(name)):
            taken = f"There already is a field “{name}”."
            invalid = "Use letters, digits, `_` and `-`, at most 64, with a letter at the start."
            found.errors[f"{label}.name"] = taken if name in shown_names else invalid
        elif before and name == "":
            found.changes[kind, before["name"]] = REMOVED
        elif before:
            _change(kind, before, changed, row, found, label)
            if name:
                found.changes[kind, before["name"]] = Renamed(name)
        elif name:
            shown_names.add(name)
            _change(kind, {"name": name}, {"type": STRING, **changed}, row, found, label)
        elif any(value for key, value in changed.items() if key != "type"):
            found.errors[f"{label}.name"] = "Write a name for this field."
    return found


def _change(
    kind: str, before: Mapping[str, str], changed: Mapping[str, str], row: Mapping[str, str], found: Edits, label: str
) -> None:
    path = (kind, before["name"])
    for key, text in changed.items():
        value: Any = text or REMOVED
        if key == "required":
            value = True if text == YES else REMOVED
        elif key == "default" and text and row.get("type") != STRING:
            try:
                value = step_cards.read_notation(text)
            except SkillsiteError as error:
                found.errors[f"{label}.default"] = error.findings[0].message if error.findings else error.message
        found.changes[(*path, key)] = value


def _row(document: Document | None, kind: str, name: str, value: Any) -> dict[str, str]:
    given = value if isinstance(value, dict) else {}
    default = given.get("default")
    text = (
        default
        if isinstance(default, str) and given.get("type") == STRING
        else ("" if default is None else step_cards.notation(default))
    )

    def written(key: str) -> str:
        return (document.text((kind, name, key)) or "") if document else ""

    required = YES if given.get("required") is True else ""
    return dict(zip(COLUMNS, (name, written("type"), required, text, written("description")), strict=True))
