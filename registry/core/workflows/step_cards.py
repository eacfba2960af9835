"""Cards of the editor: the keys of one step as fields of a form, and what their changes are in the file.

The text of the file is the truth. A card has the values of a step as text; only the fields that somebody changed become
changes of the file, so that everything else in it stays as it is written.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.core.errors import SkillsiteError
from registry.core.format import plain_scalars, yaml_render
from registry.core.format.yaml_edits import REMOVED
from registry.core.text.shorten import shorten
from registry.core.workflows import documents
from registry.core.workflows.capability import Capability
from registry.core.workflows.documents import Document
from registry.core.workflows.plan import FILE
from registry.core.workflows.values import STRING, Json

INPUT, OUTPUT = "input.", "output."
WAITS, DEPENDS_ON = "waits", "depends_on"
BEFORE, NOTHING, NAMED = "before", "nothing", "named"  # of WAITS
TEXTS = ("condition", "foreach.items", "foreach.as", "foreach.index_as")
NUMBERS = ("timeout_seconds", "retry.max_attempts", "retry.backoff_seconds", "retry.backoff_multiplier")

_UNWRITABLE = re.compile("[\0-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class Card:
    """A step as fields of a form. `number` counts from 0. The inputs in `notations` are written as YAML."""

    number: int
    id: str
    fields: Mapping[str, str]
    notations: frozenset[str] = frozenset()


@dataclass(slots=True)
class Edits:
    """Changes of the file that a form makes, and errors by field. With an error, nothing should be changed."""

    changes: dict[tuple[str | int, ...], Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def steps_of(document: Document | None) -> list[Json]:
    value = document.value.get("steps") if document and isinstance(document.value, dict) else None
    return value if isinstance(value, list) else []


def card(document: Document, number: int, capability: Capability | None) -> Card:
    """Return the card of a step, with empty fields for the inputs and outputs that it could have."""
    step = steps_of(document)[number]
    path = ("steps", number)
    config = _map(step, "config")
    fields = {"id": document.text((*path, "id")) or "", "uses": document.text((*path, "uses")) or ""}
    named = config.get(DEPENDS_ON)
    fields[WAITS] = BEFORE if DEPENDS_ON not in config else NAMED if named else NOTHING
    fields[DEPENDS_ON] = ", ".join(str(name) for name in named) if isinstance(named, list) else ""
    for key in (*TEXTS, *NUMBERS):
        fields[key] = document.text((*path, "config", *key.split("."))) or ""
    notations = set()
    given = _map(step, "input")
    for name in (*given, *(capability.inputs if capability else ())):
        declared = capability.inputs.get(name) if capability else None
        as_text = declared is not None and declared.type == STRING and isinstance(given.get(name, ""), str)
        fields[INPUT + name] = (given.get(name) or "") if as_text else notation(given[name]) if name in given else ""
        if not as_text:
            notations.add(INPUT + name)
    targets = _map(step, "output")
    for name in (*targets, *(capability.outputs if capability else ())):
        fields[OUTPUT + name] = document.text((*path, "output", name)) or ""
    return Card(number, fields["id"], fields, frozenset(notations))


def notation(value: Json) -> str:
    """Return a value as YAML on one line."""
    return yaml_render.flow(value)


def read_notation(text: str) -> Json:
    """Return the value of YAML on one or more lines. Raise InvalidSkill or TooLarge."""
    return documents.load(text, file=FILE).value


def edits(document: Document, shown: Card, typed: Mapping[str, str]) -> Edits:
    """Return what changed between a card and what was typed into it. Fields that were not sent stay as they are."""
    found = Edits()
    path: tuple[str | int, ...] = ("steps", shown.number)
    for key, text in typed.items():
        text = _clean(key, text, shown)
        if text == shown.fields.get(key, ""):
            continue
        if _UNWRITABLE.search(text):
            found.errors[key] = "This text has a control character. Remove it."
        elif key == "id":
            _rename(document, shown, text, found)
        elif key.startswith(INPUT):
            _input(shown, key, text, found)
        elif key.startswith(OUTPUT):
            found.changes[(*path, "output", key.removeprefix(OUTPUT))] = text or REMOVED
        elif key == "uses":
            found.changes[(*path, key)] = text or REMOVED
        elif key in TEXTS:
            found.changes[(*path, "config", *key.split("."))] = text or REMOVED
        elif key in NUMBERS:
            _number((*path, "config", *key.split(".")), key, text, found)
    _waits(shown, typed, found)
    return found


def references(document: Document, id_: str) -> dict[tuple[str | int, ...], str]:
    """Return the places where other steps name a step, with the ids of these steps."""
    found: dict[tuple[str | int, ...], str] = {}
    for number, step in enumerate(steps_of(document)):
        config, path = _map(step, "config"), ("steps", number, "config")
        named = config.get(DEPENDS_ON)
        by = document.text(("steps", number, "id")) or f"step {number + 1}"
        for at, _ in enumerate(named if isinstance(named, list) else ()):
            if document.text((*path, DEPENDS_ON, at)) == id_:
                found[(*path, DEPENDS_ON, at)] = by
        if document.text((*path, "on_deny")) == id_:
            found[(*path, "on_deny")] = by
    return found


def _map(step: Json, key: str) -> Mapping[str, Json]:
    value = step.get(key) if isinstance(step, dict) else None
    return value if isinstance(value, dict) else {}


def _clean(key: str, text: str, shown: Card) -> str:
    """Return typed text with the line breaks of YAML. Only the text of an input may start or end with spaces."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if key.startswith(INPUT) and key not in shown.notations else text.strip()


def _rename(document: Document, shown: Card, text: str, found: Edits) -> None:
    """Rename a step, also where other steps name it."""
    ids = [document.text(("steps", number, "id")) for number in range(len(steps_of(document)))]
    if not text:
        found.errors["id"] = "A step needs an id."
    elif text in ids:
        found.errors["id"] = f"Another step has the id “{shorten(text, 64)}” too."
    else:
        found.changes["steps", shown.number, "id"] = text
        if ids.count(shown.id) == 1 and shown.id:
            found.changes.update(dict.fromkeys(references(document, shown.id), text))


def _input(shown: Card, key: str, text: str, found: Edits) -> None:
    path = ("steps", shown.number, "input", key.removeprefix(INPUT))
    if not text:
        found.changes[path] = REMOVED
    elif key not in shown.notations:
        found.changes[path] = text
    else:
        try:
            found.changes[path] = read_notation(text)
        except SkillsiteError as error:
            reason = error.findings[0].message if error.findings else error.message
            found.errors[key] = f"{reason} Put text in quotes."


def _number(path: tuple[str | int, ...], key: str, text: str, found: Edits) -> None:
    if not text:
        found.changes[path] = REMOVED
        return
    try:
        value = plain_scalars.json(text)
    except ValueError:
        value = text
    if isinstance(value, bool) or not isinstance(value, int | float):
        found.errors[key] = f"“{shorten(text, 40)}” is not a number."
    else:
        found.changes[path] = value


def _waits(shown: Card, typed: Mapping[str, str], found: Edits) -> None:
    """Change `depends_on`: left out for the step before, `[]` for none, or a list of steps."""
    before = (shown.fields[WAITS], shown.fields[DEPENDS_ON])
    waits, text = typed.get(WAITS, before[0]), typed.get(DEPENDS_ON, before[1]).strip()
    if (waits, text) == before or (waits == before[0] and waits != NAMED):
        return
    names = [name for name in dict.fromkeys(_SEPARATOR.split(text)) if name]
    path = ("steps", shown.number, "config", DEPENDS_ON)
    if _UNWRITABLE.search(text):
        found.errors[DEPENDS_ON] = "This text has a control character. Remove it."
    elif waits == NAMED and not names:
        found.errors[DEPENDS_ON] = "Name the steps to wait for, or choose another answer."
    elif waits == NAMED:
        found.changes[path] = names
    elif waits in (BEFORE, NOTHING):
        found.changes[path] = REMOVED if waits == BEFORE else []
