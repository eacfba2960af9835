"""Edits of the steps of a workflow file: a step is added, copied, moved or removed, or its card is written into it."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.core.errors import NotFound
from registry.core.format import yaml_edits
from registry.core.format.yaml_edits import REMOVED, Changes
from registry.core.format.yaml_items import ListText
from registry.core.limits import DEFAULT, Limits
from registry.core.workflows import documents, names, step_cards
from registry.core.workflows.capability import Capability
from registry.core.workflows.documents import Document
from registry.core.workflows.plan import FILE, Plan
from registry.core.workflows.values import ARRAY, BOOLEAN, INTEGER, NUMBER, OBJECT, STRING, Fields, Json
from registry.core.workflows.wiring import compatible

# The usual order of the keys of a file, of a step and of its `config`.
ORDER = (
    "version", "description", "inputs", "outputs", "steps", "id", "uses", "input", "output", "config", "depends_on",
    "condition", "foreach", "retry", "timeout_seconds",
)  # fmt: skip
_STEPS = ("steps",)
_EMPTY: Mapping[str, Json] = {STRING: "", NUMBER: 0, INTEGER: 0, BOOLEAN: False, OBJECT: {}, ARRAY: []}
_ENDS_IN_NUMBER = re.compile(r"(.*?)-?([0-9]*)")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a workflow file, as its text. All methods return the new text. `known` is its document, if known."""

    text: str
    limits: Limits = DEFAULT
    known: Document | None = None

    @property
    def document(self) -> Document:
        return self.known or documents.load(self.text, file=FILE, limits=self.limits)

    def write(self, changes: Changes) -> str:
        if not changes:
            return self.text
        value = self.known.value if self.known else None
        return yaml_edits.apply(self.text, changes, file=FILE, value=value, order=ORDER, limits=self.limits)

    def add(self, step: Mapping[str, Any]) -> str:
        document = self.document
        return self._items(document).insert(len(step_cards.steps_of(document)), step)

    def copy(self, number: int) -> str:
        """Copy a step below itself, with an id of its own and the same outputs."""
        document = self.document
        id_ = self._id(document, number)
        return self._items(document).copy(number, {("id",): free_id(id_, ids(document))} if id_ else {})

    def move(self, number: int, by: int) -> str:
        """Move a step up (-1) or down (1) in the file. It stays where it is at either end."""
        document = self.document
        self._id(document, number)
        lower = max(number, number + by)
        if not 0 < lower < len(step_cards.steps_of(document)):
            return self.text
        return self._items(document).move_up(lower)

    def remove(self, number: int) -> str:
        """Remove a step, also from the `depends_on` of others."""
        document = self.document
        id_ = self._id(document, number)
        changes = _without(document, id_) if id_ and ids(document).count(id_) == 1 else {}
        if not changes:
            return self._items(document).remove(number)
        return ListText(self.write(changes), _STEPS, FILE, self.limits).remove(number)

    def _items(self, document: Document) -> ListText:
        return ListText(self.text, _STEPS, FILE, self.limits, document.value)

    def _id(self, document: Document, number: int) -> str:
        if not 0 <= number < len(step_cards.steps_of(document)):
            raise NotFound(f"The text has no step {number + 1:,} any more. Nothing was changed.")
        return document.text(("steps", number, "id")) or ""


def ids(document: Document) -> list[str]:
    return [document.text(("steps", at, "id")) or "" for at in range(len(step_cards.steps_of(document)))]


def free_id(id_: str, taken: Collection[str]) -> str:
    """Return an id like this one that no step has."""
    stem = _ENDS_IN_NUMBER.fullmatch(id_[:56])
    base = (stem[1] if stem and id_ in taken else id_) or "step"
    number = 2
    free = base if base not in taken else f"{base}-{number}"
    while free in taken:
        number += 1
        free = f"{base}-{number}"
    return free


def _without(document: Document, id_: str) -> Changes:
    """Return the changes that take a step out of the dependencies of others."""
    changes: dict[tuple[str | int, ...], Any] = {}
    for path in step_cards.references(document, id_):
        if path[-1] == "on_deny":
            changes[path] = REMOVED
            continue
        parent = path[:-1]
        place = document.value
        for part in parent:
            place = place[part]
        changes[parent] = [
            document.text((*parent, at)) for at in range(len(place)) if document.text((*parent, at)) != id_
        ]
    return changes


# -- New steps -----------------------------------------------------------------------------------------------------


def new_step(uses: str, capability: Capability | None, plan: Plan | None, taken: Collection[str]) -> dict[str, Any]:
    """Return a step that calls a capability, with the inputs that it needs and its outputs.

    An input reads the input of the workflow that has its name and type, or the value of that name that a step writes.
    """
    step: dict[str, Any] = {"id": free_id(_usual_id(uses), taken), "uses": uses}
    if capability is None:
        return step
    given = plan.inputs if plan else {}
    written = _written(plan)
    needed = {
        name: _value(each.type, name, given, written) for name, each in capability.inputs.items() if each.required
    }
    outputs = {name: f"vars.{_free_name(name, step['id'], written)}" for name in capability.outputs}
    return step | ({"input": needed} if needed else {}) | ({"output": outputs} if outputs else {})


def start_file(id_: str) -> str:
    """Return the workflow of a skill that has none: a step, and a person who approves its result."""
    return _START.replace("WORKFLOW", id_ if names.is_capability_id(id_) else "my-workflow")


_START = """\
# The steps of this skill. A run goes through them, and stops where a person decides.
id: WORKFLOW
version: 1.0.0
inputs:
  subject: {type: string, required: true, description: A few words about this run.}
outputs:
  message: {type: string, required: true}
steps:
  - id: draft
    uses: text.template
    input:
      template: "A message about {{subject}}."
      variables: {subject: inputs.subject}
    output:
      text: outputs.message
  - id: approve
    uses: human.approve
    input:
      question: May this message be used?
      details: outputs.message
"""


def _usual_id(uses: str) -> str:
    """Return the last words of what a step uses, as an id."""
    words = re.sub(r"[^A-Za-z0-9_-]+", "-", uses.rsplit(":", 1)[-1].rsplit(".", 1)[-1]).strip("-_")
    return words[:56] if names.is_step_id(words[:56]) else "step"


def _value(type_: str, name: str, given: Fields, written: Collection[str]) -> Json:
    if name in given and compatible(given[name].type, type_ or given[name].type):
        return f"inputs.{name}"
    return f"vars.{name}" if f"vars.{name}" in written else _EMPTY.get(type_)


def _written(plan: Plan | None) -> set[str]:
    steps: Iterable[Any] = plan.steps if plan else ()
    return {target for step in steps for target in (step.output or {}).values()}


def _free_name(name: str, id_: str, written: Collection[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    return plain if f"vars.{plain}" not in written else f"{id_}_{plain}".replace("-", "_")
