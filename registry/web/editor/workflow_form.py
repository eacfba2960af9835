"""The form of the workflow editor: a text, the card that is open, and what was typed into it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.conf import settings
from django.http import QueryDict

from registry.core.errors import InvalidInput, InvalidRequest, NotFound, SkillsiteError, TooLarge
from registry.core.format.yaml_edits import Changes
from registry.core.workflows import documents, field_rows, step_cards, step_edits
from registry.core.workflows.documents import Document
from registry.core.workflows.field_rows import COLUMNS, KINDS, Rows
from registry.core.workflows.plan import FILE
from registry.core.workflows.step_cards import INPUT, OUTPUT, Card
from registry.core.workflows.step_edits import Steps

FIELDS = "fields"  # the card of the inputs and outputs
CARD, NEW = "card.", "new."
_MOST_WAS = 200_000


@dataclass(frozen=True, slots=True)
class Opened:
    """The open card as its page showed it. `number` is the step, or None for the inputs and outputs of the workflow.

    `shown` has the values on the page, so that only what somebody changed is written into the text.
    """

    number: int | None
    id: str = ""
    shown: Mapping[str, str] = field(default_factory=dict)
    notations: frozenset[str] = frozenset()
    rows: Mapping[str, Rows] = field(default_factory=dict)

    def as_json(self) -> str:
        values = [self.number, self.id, dict(self.shown), sorted(self.notations), dict(self.rows)]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Typed:
    """A request of the editor. `errors` are about fields of the card, and `trouble` about the card as a whole.

    `text` has the changes of the card, unless there are errors.
    """

    text: str
    opened: Opened | None = None
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    trouble: str = ""

    @property
    def refused(self) -> bool:
        return bool(self.errors or self.trouble)


def read(sent: QueryDict, text: str) -> Typed:
    """Read a request and write the changes of the open card into the text."""
    opened = _opened(sent.get("was", ""))
    typed = Typed(text, opened)
    if opened is None:
        return typed
    typed.values = {key.removeprefix(CARD): str(sent.get(key)) for key in sent if key.startswith(CARD)}
    if not _is_changed(typed, opened):
        return typed
    try:
        document = documents.load(text, file=FILE, limits=settings.LIMITS)
    except SkillsiteError:
        typed.trouble = "The card waits until the YAML is valid again. Fix the finding first."
        return typed
    try:
        changes = _step(document, typed, opened, opened.number) if opened.number is not None else _fields(typed, opened)
        if not typed.errors:
            typed.text = Steps(text, settings.LIMITS, document).write(changes)
    except (InvalidInput, TooLarge, NotFound) as error:
        typed.trouble = _reason(error)
    return typed


def locate(document: Document, number: int, id_: str) -> int:
    """Return the number of a step now. It has moved if somebody edited the text above it."""
    ids = step_edits.ids(document)
    if 0 <= number < len(ids) and ids[number] == id_:
        return number
    if id_ in ids:
        return ids.index(id_)
    raise NotFound(f"The text has no step “{id_[:64]}” any more. Nothing was changed.")


def opened_card(card: Card) -> Opened:
    return Opened(card.number, card.id, card.fields, card.notations)


def opened_fields(document: Document | None) -> Opened:
    return Opened(None, rows={kind: field_rows.rows(document, kind) for kind in KINDS})


def _step(document: Document, typed: Typed, opened: Opened, number: int) -> Changes:
    number = locate(document, number, opened.id)
    typed.opened = replace(opened, number=number)
    sent = dict(typed.values)
    for kind, prefix in (("input", INPUT), ("output", OUTPUT)):
        name = sent.pop(f"{NEW}{kind}.name", "").strip()
        value = sent.pop(f"{NEW}{kind}.value", "")
        if name and prefix + name in opened.shown:
            typed.errors[f"{NEW}{kind}.name"] = f"The step already has “{name[:64]}”."
        elif name:
            sent[prefix + name] = value
        elif value.strip():
            typed.errors[f"{NEW}{kind}.name"] = "Write a name for this value."
    # A new input is YAML, as long as nobody knows its type.
    new = {key for key in sent if key.startswith(INPUT) and key not in opened.shown}
    card = Card(number, opened.id, opened.shown, opened.notations | new)
    found = step_cards.edits(document, card, sent)
    typed.errors |= {_sent_key(key, new): error for key, error in found.errors.items()}
    return found.changes


def _reason(error: SkillsiteError) -> str:
    if not error.findings:
        return error.message
    first = error.findings[0]
    return f"{first.message} {first.fix}".strip()


def _sent_key(key: str, new: set[str]) -> str:
    return f"{NEW}input.value" if key in new else key


def _fields(typed: Typed, opened: Opened) -> Changes:
    changes: dict[tuple[str | int, ...], Any] = {}
    for kind in KINDS:
        shown = opened.rows.get(kind, [])
        rows = [
            {key: typed.values.get(f"{kind}.{number}.{key}", "") for key in COLUMNS} for number in range(len(shown) + 1)
        ]
        for number, row in enumerate(rows[: len(shown)]):
            if f"{kind}.{number}.name" not in typed.values:
                rows[number] = {**row, **shown[number]}
        found = field_rows.edits(kind, shown, rows)
        typed.errors |= found.errors
        changes |= found.changes
    return changes


def _is_changed(typed: Typed, opened: Opened) -> bool:
    if opened.number is None:
        trial = Typed("", opened, typed.values)
        return bool(_fields(trial, opened) or trial.errors)
    sent = {key: value.replace("\r\n", "\n") for key, value in typed.values.items()}
    return any(value != opened.shown.get(key, "") for key, value in sent.items())


def _opened(text: str) -> Opened | None:
    if not text:
        return None
    try:
        if len(text) > _MOST_WAS:
            raise ValueError
        number, id_, shown, notations, rows = cast(Any, json.loads(text))
        opened = Opened(
            number,
            _text(id_),
            {_text(key): _text(value) for key, value in shown.items()},
            frozenset(map(_text, notations)),
            {kind: [{key: _text(row[key]) for key in COLUMNS} for row in rows.get(kind, [])] for kind in KINDS},
        )
        if number is not None and type(number) is not int:
            raise TypeError
        if number is not None and not {step_cards.WAITS, step_cards.DEPENDS_ON} <= opened.shown.keys():
            raise ValueError
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise InvalidRequest("The open card of this page cannot be read. Reload the page.") from None
    return opened


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
