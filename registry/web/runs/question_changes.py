"""The differences between two questions that a run asked at the same step."""

import re
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from registry.core.workflows.value_rows import ValueRow, value_changes
from registry.models import RunQuestion
from registry.models.workflows import APPROVED, DENIED, EXPIRED
from registry.web.render.value_table import Cell, Drawing

_PARTS = {
    "target": "target",
    "definition": "definition",
    "input": "input",
    "output": "output",
    "side_effects": "side effects",
    "reversible": "can be undone",
    "classification": "classification",
    "trust_level": "trust level",
    "reason": "reason",
    "description": "description",
}
_QUOTED = re.compile(r'\A\["([^"\\]*)"\]')  # a label with spaces, at the start of a path
_STATES = {APPROVED: "answered", DENIED: "denied", EXPIRED: "not answered in time"}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A value that differs. `before` or `after` is None if it is not in the other question."""

    path: SafeString
    before: Cell | None
    after: Cell | None


@dataclass(frozen=True, slots=True)
class Changes:
    """`question` is the earlier question, and `more` counts the differences that are not listed."""

    question: RunQuestion
    rows: tuple[ChangeRow, ...]
    more: int

    @property
    def state(self) -> str:
        return _STATES.get(self.question.state, "withdrawn")


def between(before: RunQuestion, after: RunQuestion, drawing: Drawing) -> Changes:
    found, count = value_changes(_shown(before), _shown(after))
    rows = tuple(
        ChangeRow(drawing.text(_QUOTED.sub(r"\1", each.path)), _cell(each.before, drawing), _cell(each.after, drawing))
        for each in found
    )
    return Changes(before, rows, count - len(rows))


def _shown(question: RunQuestion) -> dict[str, Any]:
    parts = {label: question.shown.get(key) for key, label in _PARTS.items()}
    return parts | {f"gate {each['gate']}": _says(each) for each in question.shown.get("verdicts") or ()}


def _says(verdict: dict[str, Any]) -> str:
    """Return the answer of a gate in words, so that a change of it is one row."""
    objection = f"objects: {verdict['reason']}" if verdict.get("reason") else "objects"
    return "allows it" if verdict.get("allowed") else objection


def _cell(row: ValueRow | None, drawing: Drawing) -> Cell | None:
    return drawing.cell(row) if row is not None else None
