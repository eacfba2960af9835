"""What SKILL.md says about the skill: read from either place a key may stand, written where it stood."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from registry.core.bundle import SKILL_MD, normalise
from registry.core.errors import InvalidSkill
from registry.core.findings import Finding, Severity
from registry.core.format import frontmatter
from registry.core.format.edit_lines import joined, key_text, quoted
from registry.core.format.frontmatter import Document
from registry.core.format.yaml_positions import read_as
from registry.core.limits import DEFAULT, Limits


class Unchanged(Enum):
    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED

KNOWLEDGE, TOOL = "knowledge", "tool"
KINDS = {KNOWLEDGE: KNOWLEDGE, "host-knowledge": KNOWLEDGE, TOOL: TOOL}  # as it is written: what it means
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LISTS = ("tags", "requires", "triggers", "inputs", "outputs")


@dataclass(frozen=True, slots=True)
class SkillMd:
    document: Document
    name: str  # as written, or the fallback
    description: str  # one line
    kind: str  # knowledge or tool; tool where nothing is declared
    tags: tuple[str, ...]
    requires: tuple[str, ...]  # normalised names
    triggers: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: str | None
    license: str
    compatibility: str
    allowed_tools: str
    metadata: Mapping[str, str]  # the flat values; lists and maps stay in the document
    warnings: tuple[Finding, ...]  # those of the document, and what was odd about the values

    @property
    def instructions(self) -> str:
        """The body with LF line ends, without the blank lines around it."""
        return _without_outer_blank_lines(self.document.body)


def read(content: bytes | str, *, fallback_name: str = "", limits: Limits = DEFAULT) -> SkillMd:
    """Parse and interpret. A missing name falls back on the directory's; a missing description is fatal."""
    document = frontmatter.parse(content, limits=limits, file=SKILL_MD)
    reader = _Reader(document)
    name, description = reader.required("name", fallback_name), reader.required("description")
    reader.raise_problems()
    lists = {key: reader.items(key) for key in _LISTS}
    lists["requires"] = tuple(dict.fromkeys(normalise(item) for item in lists["requires"]))
    return SkillMd(
        document=document,
        name=name.strip(),
        description=_folded(description),
        kind=reader.kind(),
        **lists,
        version=_folded(_text(reader.either("version"))) or None,
        license=_folded(_text(document.fields.get("license"))),
        compatibility=_folded(_text(document.fields.get("compatibility"))),
        allowed_tools=_folded(_text(document.fields.get("allowed-tools"), " ")),
        metadata=MappingProxyType(
            {key: _text(value) for key, value in reader.metadata.items() if not isinstance(value, tuple | Mapping)}
        ),
        warnings=(*document.warnings, *reader.warnings),
    )


def compose(
    *,
    name: str,
    description: str,
    instructions: str,
    kind: str | None = None,
    tags: Iterable[str] = (),
    requires: Iterable[str] = (),
    triggers: Iterable[str] = (),
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    license: str = "",  # noqa: A002 - the key of the format
    compatibility: str = "",
    allowed_tools: str = "",
    metadata: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A new file in the subset of the format that every known client reads."""
    spec = {"license": license, "compatibility": compatibility, "allowed-tools": allowed_tools}
    lists = {
        "tags": tags,
        "requires": map(normalise, requires),
        "triggers": triggers,
        "inputs": inputs,
        "outputs": outputs,
    }
    inside = {
        **metadata,
        **({"kind": kind} if kind else {}),
        **{key: text for key, items in lists.items() if (text := joined(_unique(items)))},
    }
    lines = [
        "---",
        f"name: {_plain_or_quoted(name)}",
        f"description: {quoted(_folded(description))}",
        *(f"{key}: {quoted(_folded(text))}" for key, text in spec.items() if text.strip()),
    ]
    if inside:
        lines += ["metadata:", *(f"  {key_text(key)}: {quoted(text)}" for key, text in inside.items())]
    text = "\n".join([*lines, "---"]) + _as_body(instructions)
    read(text)
    return text


def revise(
    skill: SkillMd,
    *,
    name: str | Unchanged = UNCHANGED,
    description: str | Unchanged = UNCHANGED,
    kind: str | Unchanged = UNCHANGED,
    tags: Iterable[str] | Unchanged = UNCHANGED,
    requires: Iterable[str] | Unchanged = UNCHANGED,
    triggers: Iterable[str] | Unchanged = UNCHANGED,
    inputs: Iterable[str] | Unchanged = UNCHANGED,
    outputs: Iterable[str] | Unchanged = UNCHANGED,
    instructions: str | Unchanged = UNCHANGED,
    metadata: Mapping[str, str] | Unchanged = UNCHANGED,
    limits: Limits = DEFAULT,
) -> str:
    """The text of the skill with these values; what is not given, or is the same, stays as it is.

    `metadata` is all that shall stand there.
    """
    changes: dict[str, object | None] = {}
    if name is not UNCHANGED and name.strip() != _text(skill.document.fields.get("name")).strip():
        changes["name"] = name.strip()
    if description is not UNCHANGED and _folded(description) != skill.description:
        changes["description"] = _folded(description)
    if kind is not UNCHANGED and kind != skill.kind:
        changes.update(_where(skill, "kind", kind))
    lists = {"tags": tags, "requires": requires, "triggers": triggers, "inputs": inputs, "outputs": outputs}
    for key, items in lists.items():
        if not isinstance(items, Unchanged) and (cleaned := _unique(items)) != getattr(skill, key):
            changes.update(_where(skill, key, cleaned))
    if not isinstance(metadata, Unchanged):
        inside = skill.document.fields.get("metadata")
        gone = inside.keys() - metadata.keys() if isinstance(inside, Mapping) else ()
        changes.update({f"metadata.{key}": None for key in gone} | {f"metadata.{k}": v for k, v in metadata.items()})
    body = None
    if instructions is not UNCHANGED and _without_outer_blank_lines(instructions) != skill.instructions:
        body = _as_body(instructions)[1:]
    text = frontmatter.edit(skill.document, changes, body=body, limits=limits)
    read(text, fallback_name=skill.name if name is UNCHANGED else "", limits=limits)
    return text


class _Reader:
    """Looks a value up in both places and remembers what was odd."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.warnings: list[Finding] = []
        self.problems: list[Finding] = []
        inside = document.fields.get("metadata")
        self.metadata: Mapping[str, object] = inside if isinstance(inside, Mapping) else {}
        if inside is not None and not isinstance(inside, Mapping):
            self.warn(
                "metadata-map",
                "metadata",
                "`metadata` is not a map and was left out.",
                'Write one `key: "value"` a line below it, indented by two spaces.',
            )

    def warn(self, rule: str, key: str, message: str, fix: str) -> None:
        line = self.document.lines.get(key)
        self.warnings.append(Finding(rule, Severity.WARNING, SKILL_MD, line, message, fix))

    def fail(self, rule: str, key: str, message: str, fix: str) -> None:
        line = self.document.lines.get(key)
        self.problems.append(Finding(rule, Severity.ERROR, SKILL_MD, line, message, fix))

    def required(self, key: str, fallback: str = "") -> str:
        value, fallback = self.document.fields.get(key), fallback.strip()
        if isinstance(value, tuple | Mapping):
            self.fail(f"{key}-text", key, f"`{key}` is a list or a map.", "Write it as one text.")
        elif text := _text(value).strip():
            return text
        elif fallback:
            self.warn(
                f"{key}-missing",
                key,
                f"`{key}` is missing; the directory's “{fallback}” is used.",
                f"Add `{key}: {fallback}` to the header.",
            )
        else:
            self.fail(f"{key}-missing", key, f"`{key}` is missing or empty.", f"Add `{key}: …` at the top.")
        return fallback

    def raise_problems(self) -> None:
        if self.problems:
            first = self.problems[0]
            place = f"{SKILL_MD}, line {first.line}" if first.line else SKILL_MD
            raise InvalidSkill(f"{place}: {first.message} {first.fix}", findings=self.problems)

    def either(self, key: str) -> object:
        """The top level wins over `metadata`, because that is where the author's own client looks."""
        top, inside = self.document.fields.get(key), self.metadata.get(key)
        if top is None or inside is None:
            return inside if top is None else top
        if _items(top) != _items(inside):
            self.warn(
                "frontmatter-two-places",
                f"metadata.{key}",
                f"`{key}` stands at the top level and in `metadata` with different values. "
                "The one at the top level counts.",
                "Remove one of the two.",
            )
        return top

    def items(self, key: str) -> tuple[str, ...]:
        return _items(self.either(key))

    def kind(self) -> str:
        written = _folded(_text(self.either("kind"))).lower()
        if written and written not in KINDS:
            key = "kind" if "kind" in self.document.fields else "metadata.kind"
            self.warn(
                "kind-unknown",
                key,
                f"The kind “{written[:40]}” is not known and counts as `tool`.",
                "Use `knowledge` or `tool`.",
            )
        return KINDS.get(written, TOOL)


def _where(skill: SkillMd, key: str, value: str | tuple[str, ...]) -> dict[str, object | None]:
    """The change for each place where the key stands; inside `metadata` where it stands in none."""
    fields = skill.document.fields
    inside = fields.get("metadata")
    new: object | None = value or None
    changes: dict[str, object | None] = {}
    if key in fields:
        as_text = isinstance(fields[key], str) and isinstance(new, tuple)
        changes[key] = joined(value) if as_text else new
    if key not in fields or (isinstance(inside, Mapping) and key in inside):
        changes[f"metadata.{key}"] = new
    return changes


def _items(value: object) -> tuple[str, ...]:
    """A comma-separated text, a list, or a map of which the keys count."""
    if isinstance(value, tuple | Mapping):
        return _unique(_text(item) for item in value)
    return _unique(part for line in _text(value).splitlines() for part in line.split(","))


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cleaned for item in items if (cleaned := _folded(item))))


def _text(value: object, separator: str = ", ") -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return separator.join(_text(item) for item in value)
    return value if isinstance(value, str) else ""


def _folded(text: str) -> str:
    return " ".join(text.split())


def _plain_or_quoted(name: str) -> str:
    """A safe name stands without quotes: readers that look for `name: x` with a pattern then find it."""
    plain = _PLAIN_NAME.fullmatch(name) and read_as(name) == "str"
    return name if plain else quoted(name)


def _as_body(instructions: str) -> str:
    inner = _without_outer_blank_lines(instructions)
    return f"\n\n{inner}\n" if inner else "\n"


def _without_outer_blank_lines(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])
