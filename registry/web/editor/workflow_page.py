"""View model of the workflow editor: the text, its findings, its graph and its steps as cards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from registry.core.findings import Severity, in_reading_order
from registry.core.workflows import field_rows, step_cards, workflow_lint, workflow_yaml
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.documents import Document
from registry.core.workflows.field_rows import KINDS, Rows
from registry.core.workflows.plan import DEFAULT_TIMEOUT_SECONDS, SKILL_PREFIX, Retry
from registry.core.workflows.step_cards import BEFORE, INPUT, NAMED, NOTHING, OUTPUT, Card
from registry.core.workflows.values import TYPES, Fields
from registry.core.workflows.workflow_yaml import Parsed
from registry.models import Project
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog
from registry.web.editor.editor_page import tally
from registry.web.editor.workflow_form import Opened, Typed, opened_card, opened_fields
from registry.web.render import workflow_graph

_TONES = {Severity.ERROR: ("error", "error"), Severity.WARNING: ("warn", "warning"), Severity.HINT: ("hint", "info")}
_MOST_SKILLS = 200  # in the list of what a step can use
_MOST_FIELDS = 60  # of a card; a request has at most 1,000 fields
# Fields of a card: key, label, hint, and the value without one.
_FOREACH = (
    ("foreach.items", "For each item of", "", "vars.items"),
    ("foreach.as", "Name of the item", "", "item"),
    ("foreach.index_as", "Name of its number", "", "index"),
)
_LIMITS = (
    ("timeout_seconds", "Timeout in seconds", "", f"{DEFAULT_TIMEOUT_SECONDS:g}"),
    ("retry.max_attempts", "Attempts", "", "1"),
    ("retry.backoff_seconds", "Pause in seconds", "", f"{Retry().backoff_seconds:g}"),
    ("retry.backoff_multiplier", "Pause grows by", "", f"{Retry().backoff_multiplier:g}"),
)
_ON_CARDS = frozenset({"depends_on", "condition", "timeout_seconds", "retry", "foreach"})


@dataclass(frozen=True, slots=True)
class CardField:
    """A field of the open card. `lines` is true for text that may have several lines."""

    key: str
    label: str
    value: str
    hint: str = ""
    error: str = ""
    lines: bool = False
    placeholder: str = ""

    @property
    def id(self) -> str:
        return "c-" + "-".join(self.key.split("."))


@dataclass(frozen=True, slots=True)
class Row:
    """A step in the list. `facts` are phrases, each with a name or an expression behind it."""

    number: int
    id: str
    uses: str
    line: int
    facts: tuple[tuple[str, str], ...]
    findings: int
    is_open: bool

    @property
    def at(self) -> str:
        """The step as the argument of a button. The id finds it again after the text has changed."""
        return f"{self.number}:{self.id}"

    @property
    def name(self) -> str:
        return self.id or f"step {self.number + 1}"


@dataclass(frozen=True, slots=True)
class OpenCard:
    """The card of one step, or of the inputs and outputs of the workflow."""

    opened: Opened
    title: str
    groups: Mapping[str, list[CardField]] = field(default_factory=dict)
    waits: str = ""
    also: tuple[str, ...] = ()
    line: int | None = None
    hidden: int = 0
    about: str = ""
    tables: tuple["Table", ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The inputs or the outputs of the workflow as rows with fields, the last of them empty."""

    kind: str
    title: str
    rows: list[dict[str, CardField]]
    hidden: int


class WorkflowPage:
    """Parts of the page for one text of `workflow.yaml`, in a project whose capabilities and skills it can use."""

    def __init__(self, project: Project, text: str) -> None:
        self.text = text
        self.capabilities: CapabilitySet = capability_registry.of(project.pk)
        view = catalog.view(project.pk, project.revision)
        self.skills = frozenset(each.name for each in view.skills)
        self.parsed: Parsed = workflow_yaml.parse(text, limits=settings.LIMITS)
        linted = workflow_lint.lint(self.parsed, capabilities=self.capabilities.by_id, skills=self.skills)
        self.findings = in_reading_order([*self.parsed.findings, *linted])
        self.steps = step_cards.steps_of(self.parsed.document)

    @property
    def document(self) -> Document | None:
        return self.parsed.document

    def context(self, typed: Typed | None = None, *, card: OpenCard | None = None) -> dict[str, Any]:
        return {
            "text": self.text, "findings": [(each, *_TONES[each.severity]) for each in self.findings],
            "tally": tally(self.findings), "graph": self.graph(),
            "valid_yaml": self.document is not None, "rows": list(self.rows(card)),
            "inputs": field_rows.rows(self.document, "inputs"), "outputs": field_rows.rows(self.document, "outputs"),
            "card": card, "trouble": typed.trouble if typed else "",
            "groups": self.pickable(), "known_uses": self.known_uses(), "types": TYPES,
        }  # fmt: skip

    def graph(self) -> SafeString | None:
        plan = self.parsed.plan
        if plan is None:
            return None
        return workflow_graph.draw(plan, links={step.id: f"#step-{step.id}" for step in plan.steps}, lists_steps=False)

    def rows(self, card: OpenCard | None) -> Iterator[Row]:
        if self.document is None:
            return
        read = iter(self.parsed.sketch.steps if self.parsed.sketch else ())
        starts = [self.document.line(("steps", number)) for number in range(len(self.steps))]
        for number, step in enumerate(self.steps):
            known = next(read, None) if isinstance(step, dict) else None
            path, end = ("steps", number), starts[number + 1] if number + 1 < len(starts) else None
            findings = sum(
                each.line is not None and starts[number] <= each.line and (end is None or each.line < end)
                for each in self.findings
            )
            id_, uses = self.document.text((*path, "id")) or "", self.document.text((*path, "uses")) or ""
            said = workflow_graph.step_facts(known) if known else ()
            is_open = card is not None and card.opened.number == number
            yield Row(number, id_, uses, starts[number], said, findings, is_open)

    def pickable(self) -> list[tuple[str, list[Capability]]]:
        """Return the capabilities in groups by the first word of their ids."""
        groups: dict[str, list[Capability]] = {}
        for capability in self.capabilities.by_id.values():
            if not capability.deprecated:
                groups.setdefault(capability.id.partition(".")[0], []).append(capability)
        return sorted(groups.items())

    def known_uses(self) -> list[str]:
        skills = sorted(self.skills)[:_MOST_SKILLS]
        return [*self.capabilities.by_id, *(SKILL_PREFIX + name for name in skills)]

    # -- The open card

    def step_card(self, number: int, typed: Typed | None = None) -> OpenCard | None:
        """Return the card of a step, with what was typed as long as that is not in the text."""
        kept = self._kept(typed)
        if kept and kept.opened:
            opened, values, errors = kept.opened, {**kept.opened.shown, **kept.values}, kept.errors
            card = Card(number, opened.id, opened.shown, opened.notations)
        elif self.document and 0 <= number < len(self.steps) and isinstance(self.steps[number], dict):
            uses = self.document.text(("steps", number, "uses")) or ""
            card = step_cards.card(self.document, number, self.capabilities.find(uses))
            opened, values, errors = opened_card(card), dict(card.fields), {}
        else:
            return None
        capability = self.capabilities.find(opened.shown["uses"])
        config = self.steps[number].get("config") if number < len(self.steps) else None
        groups, hidden = _groups(card, values, capability, errors)
        return OpenCard(
            opened,
            card.id or f"step {number + 1}",
            groups,
            values[step_cards.WAITS],
            tuple(key for key in config if key not in _ON_CARDS) if isinstance(config, dict) else (),
            self.document.line(("steps", number)) if self.document else None,
            hidden,
            capability.description if capability else "",
        )

    def fields_card(self, typed: Typed | None = None) -> OpenCard | None:
        kept = self._kept(typed)
        opened = kept.opened if kept and kept.opened else opened_fields(self.document)
        values, errors = (kept.values, kept.errors) if kept else ({}, {})
        tables = tuple(_table(kind, opened.rows.get(kind, []), values, errors) for kind in KINDS)
        return OpenCard(opened, "Inputs and outputs", tables=tables)

    def _kept(self, typed: Typed | None) -> Typed | None:
        """Return what was typed into the card if the text does not have it."""
        return typed if typed and typed.opened and (typed.refused or self.document is None) else None


def _groups(
    card: Card, values: Mapping[str, str], capability: Capability | None, errors: Mapping[str, str]
) -> tuple[dict[str, list[CardField]], int]:
    """Return the fields of a step in groups, and how many inputs and outputs are left out."""

    def make(key: str, label: str, hint: str = "", placeholder: str = "", *, lines: bool = False) -> CardField:
        return CardField(key, label, values.get(key, ""), hint, errors.get(key, ""), lines, placeholder)

    inputs = [key for key in card.fields if key.startswith(INPUT)]
    outputs = [key for key in card.fields if key.startswith(OUTPUT)]
    known_in, known_out = (capability.inputs, capability.outputs) if capability else ({}, {})
    always = "An expression. Without one, the step always runs."
    groups = {
        "basics": [make("id", "Id"), make("uses", "Uses")],
        "input": [
            make(key, key.removeprefix(INPUT), _hint(known_in, key, INPUT), lines=_has_lines(card, key, values))
            for key in inputs[:_MOST_FIELDS]
        ],
        "new_input": [make("new.input.name", "Another input"), make("new.input.value", "Its value, as YAML")],
        "output": [
            make(key, key.removeprefix(OUTPUT), _hint(known_out, key, OUTPUT), "vars.name")
            for key in outputs[:_MOST_FIELDS]
        ],
        "new_output": [make("new.output.name", "Another output"), make("new.output.value", "Where it goes")],
        "waits": [make("depends_on", "Steps to wait for", "Their ids, with commas between them.")],
        "condition": [make("condition", "Only if", always, "vars.score > 0.8")],
        "foreach": [make(*each) for each in _FOREACH],
        "limits": [make(*each) for each in _LIMITS],
    }
    return groups, max(0, len(inputs) - _MOST_FIELDS) + max(0, len(outputs) - _MOST_FIELDS)


def _has_lines(card: Card, key: str, values: Mapping[str, str]) -> bool:
    return key not in card.notations or "\n" in values.get(key, "")


def _hint(fields: Fields, key: str, prefix: str) -> str:
    declared = fields.get(key.removeprefix(prefix))
    if declared is None:
        return ""
    words = [declared.type or "any value", "required" if declared.required and prefix == INPUT else ""]
    return ", ".join(filter(None, words)) + (f". {declared.description}" if declared.description else "")


def _table(kind: str, rows: Rows, values: Mapping[str, str], errors: Mapping[str, str]) -> Table:
    shown: Iterable[dict[str, str]] = [*rows[:_MOST_FIELDS], *([{}] if len(rows) <= _MOST_FIELDS else [])]
    made = []
    for number, row in enumerate(shown):
        cells = {}
        for key in field_rows.COLUMNS:
            name = f"{kind}.{number}.{key}"
            value = values.get(name, "" if values and key == "required" else row.get(key, ""))
            label = f"New {kind.removesuffix('s')}" if key == "name" and not row else key.capitalize()
            cells[key] = CardField(name, label, value, error=errors.get(name, ""))
        made.append(cells)
    return Table(kind, kind.capitalize(), made, max(0, len(rows) - _MOST_FIELDS))


WAITS = ((BEFORE, "The step before it"), (NOTHING, "No step, it begins at once"), (NAMED, "These steps"))
