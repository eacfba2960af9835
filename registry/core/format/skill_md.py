"""The contents of SKILL.md as values.

Keys outside the Agent Skills format are read from the top level or from `metadata`, and written back to the same place.
"""

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
from registry.core.format.edit_lines import join_items, key_text, quote
from registry.core.format.frontmatter import Document
from registry.core.format.yaml_positions import read_as
from registry.core.limits import DEFAULT, Limits


class Unchanged(Enum):
    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED

KNOWLEDGE, TOOL = "knowledge", "tool"
KINDS = {KNOWLEDGE: KNOWLEDGE, "host-knowledge": KNOWLEDGE, TOOL: TOOL}  # spelling in SKILL.md: kind
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
TITLE_CHARS = 200
LISTS = ("tags", "requires", "triggers", "inputs", "outputs")


@dataclass(frozen=True, slots=True)
class SkillMd:
    """A parsed and interpreted SKILL.md."""

    document: Document
    name: str  # as written, or the fallback
    description: str  # one line
    kind: str  # knowledge or tool; tool by default
    tags: tuple[str, ...]
    requires: tuple[str, ...]  # normalised names
    triggers: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: str | None
    license: str
    compatibility: str
    allowed_tools: str
    metadata: Mapping[str, str]  # without lists and maps
    warnings: tuple[Finding, ...]  # of the document and of the values

    @property
    def instructions(self) -> str:
        """The body with LF line endings and without surrounding blank lines."""
        return _strip_blank_lines(self.document.body)

    @property
    def title(self) -> str:
        """`title` under `metadata`, else the heading at the start of the instructions, else the name in words."""
        return title_of(self.name, self.document.body, self.metadata.get("title", ""))


def title_of(name: str, body: str, title: str = "") -> str:
    """Return the title in the header, else the heading at the start of the body, else the name in words."""
    first = _strip_blank_lines(body).partition("\n")[0]
    heading = first.removeprefix("# ").strip(" #") if first.startswith("# ") else ""
    return _collapse_spaces(title or heading)[:TITLE_CHARS].strip() or name.replace("-", " ").capitalize()


def read(content: bytes | str, *, fallback_name: str = "", limits: Limits = DEFAULT) -> SkillMd:
    """Parse and interpret SKILL.md. Raise InvalidSkill if the description or the name without a fallback is missing."""
    document = frontmatter.parse(content, limits=limits, file=SKILL_MD)
    reader = _Reader(document)
    name, description = reader.required("name", fallback_name), reader.required("description")
    reader.raise_problems()
    lists = {key: reader.items(key) for key in LISTS}
    lists["requires"] = tuple(dict.fromkeys(normalise(item) for item in lists["requires"]))
    return SkillMd(
        document=document,
        name=name.strip(),
        description=_collapse_spaces(description),
        kind=reader.kind(),
        **lists,
        version=_collapse_spaces(_text(reader.either("version"))) or None,
        license=_collapse_spaces(_text(document.fields.get("license"))),
        compatibility=_collapse_spaces(_text(document.fields.get("compatibility"))),
        allowed_tools=_collapse_spaces(_text(document.fields.get("allowed-tools"), " ")),
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
    """Return a new SKILL.md that uses only features that every known client supports."""
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
        **{key: text for key, items in lists.items() if (text := join_items(_unique(items)))},
    }
    lines = [
        "---",
        f"name: {_plain_or_quoted(name)}",
        f"description: {quote(_collapse_spaces(description))}",
        *(f"{key}: {quote(_collapse_spaces(text))}" for key, text in spec.items() if text.strip()),
    ]
    if inside:
        lines += ["metadata:", *(f"  {key_text(key)}: {quote(text)}" for key, text in inside.items())]
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
    """Return the text of the skill with these values. Everything else stays unchanged.

    `metadata` replaces all metadata.
    """
    changes: dict[str, object | None] = {}
    if name is not UNCHANGED and name.strip() != _text(skill.document.fields.get("name")).strip():
        changes["name"] = name.strip()
    if description is not UNCHANGED and _collapse_spaces(description) != skill.description:
        changes["description"] = _collapse_spaces(description)
    if kind is not UNCHANGED and kind != skill.kind:
        changes.update(_changes_of(skill, "kind", kind))
    lists = {"tags": tags, "requires": requires, "triggers": triggers, "inputs": inputs, "outputs": outputs}
    for key, items in lists.items():
        if not isinstance(items, Unchanged) and (cleaned := _unique(items)) != getattr(skill, key):
            changes.update(_changes_of(skill, key, cleaned))
    if not isinstance(metadata, Unchanged):
        inside = skill.document.fields.get("metadata")
        removed = inside.keys() - metadata.keys() if isinstance(inside, Mapping) else ()
        changes.update({f"metadata.{key}": None for key in removed} | {f"metadata.{k}": v for k, v in metadata.items()})
    body = None
    if instructions is not UNCHANGED and _strip_blank_lines(instructions) != skill.instructions:
        body = _as_body(instructions)[1:]
    text = frontmatter.edit(skill.document, changes, body=body, limits=limits)
    read(text, fallback_name=skill.name if name is UNCHANGED else "", limits=limits)
    return text


class _Reader:
    """Looks up values at the top level and in `metadata`, and collects warnings and errors."""

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
                "`metadata` is not a list of keys and values, so it was ignored.",
                'Write one `key: "value"` per line below it, indented by two spaces.',
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
            self.fail(f"{key}-text", key, f"`{key}` is a list or a map instead of text.", "Write it as one text.")
        elif text := _text(value).strip():
            return text
        elif fallback:
            self.warn(
                f"{key}-missing",
                key,
                f"`{key}` is missing. The name of the folder, “{fallback}”, is used instead.",
                f"Add `{key}: {fallback}` to the header.",
            )
        else:
            self.fail(f"{key}-missing", key, f"`{key}` is missing or empty.", f"Add `{key}: …` to the header.")
        return fallback

    def raise_problems(self) -> None:
        if self.problems:
            first = self.problems[0]
            place = f"{SKILL_MD}, line {first.line}" if first.line else SKILL_MD
            raise InvalidSkill(f"{place}: {first.message} {first.fix}", findings=self.problems)

    def either(self, key: str) -> object:
        """Return the value at the top level or else in `metadata`. Other clients look at the top level only."""
        top, inside = self.document.fields.get(key), self.metadata.get(key)
        if top is None or inside is None:
            return inside if top is None else top
        if _items(top) != _items(inside):
            self.warn(
                "frontmatter-two-places",
                f"metadata.{key}",
                f"`{key}` has one value at the top level and another one in `metadata`. "
                "The one at the top level is used.",
                "Remove one of them.",
            )
        return top

    def items(self, key: str) -> tuple[str, ...]:
        return _items(self.either(key))

    def kind(self) -> str:
        kind = _collapse_spaces(_text(self.either("kind"))).lower()
        if kind and kind not in KINDS:
            key = "kind" if "kind" in self.document.fields else "metadata.kind"
            self.warn(
                "kind-unknown",
                key,
                f"The kind “{kind[:40]}” is unknown, so the skill is treated as a how-to (`tool`).",
                "Use `tool` for a how-to or `knowledge` for reference.",
            )
        return KINDS.get(kind, TOOL)


def _changes_of(skill: SkillMd, key: str, value: str | tuple[str, ...]) -> dict[str, object | None]:
    """Return the changes for each place of the key. A new key goes into `metadata`."""
    fields = skill.document.fields
    inside = fields.get("metadata")
    new: object | None = value or None
    changes: dict[str, object | None] = {}
    if key in fields:
        as_text = isinstance(fields[key], str) and isinstance(new, tuple)
        changes[key] = join_items(value) if as_text else new
    if key not in fields or (isinstance(inside, Mapping) and key in inside):
        changes[f"metadata.{key}"] = new
    return changes


def _items(value: object) -> tuple[str, ...]:
    """Return the items of a comma-separated text, of a list, or the keys of a map."""
    if isinstance(value, tuple | Mapping):
        return _unique(_text(item) for item in value)
    return _unique(part for line in _text(value).splitlines() for part in line.split(","))


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cleaned for item in items if (cleaned := _collapse_spaces(item))))


def _text(value: object, separator: str = ", ") -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return separator.join(_text(item) for item in value)
    return value if isinstance(value, str) else ""


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _plain_or_quoted(name: str) -> str:
    """Return a safe name without quotes, because some clients search for `name: x` with a regular expression."""
    plain = _PLAIN_NAME.fullmatch(name) and read_as(name) == "str"
    return name if plain else quote(name)


def _as_body(instructions: str) -> str:
    inner = _strip_blank_lines(instructions)
    return f"\n\n{inner}\n" if inner else "\n"


def _strip_blank_lines(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])
