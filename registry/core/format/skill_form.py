"""The editor form: converts SKILL.md to form fields and back without losing anything, even if it is invalid."""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from registry.core.format import frontmatter, skill_md
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits

_REQUIRED = ("name", "description")
_LISTS = ("tags", "requires", "triggers", "inputs", "outputs")
# Placeholder for a missing name or description while the text is parsed. Never stored.
_PLACEHOLDER = "not-written-yet"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Fields:
    """The form fields as the author typed them. List items are separated by commas or line breaks."""

    name: str = ""
    description: str = ""
    kind: str = skill_md.TOOL
    tags: str = ""
    requires: str = ""
    triggers: str = ""
    inputs: str = ""
    outputs: str = ""
    instructions: str = ""

    @property
    def empty(self) -> bool:
        return not any(getattr(self, field.name).strip() for field in fields(self) if field.name != "kind")

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def items(text: str) -> tuple[str, ...]:
    """Split a typed list at commas and line breaks."""
    parts = (" ".join(part.split()) for line in text.splitlines() for part in line.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def parse(text: str, *, limits: Limits = DEFAULT) -> Fields:
    """Return the form fields of a text. Raise InvalidInput if the header is invalid.

    A missing name or description becomes an empty field, so that the author can fill it in.
    """
    skill, missing = read(text, limits=limits)
    return Fields(
        name="" if "name" in missing else skill.name,
        description="" if "description" in missing else skill.description,
        kind=skill.kind,
        **{key: ", ".join(getattr(skill, key)) for key in _LISTS},
        instructions=skill.instructions,
    )


def to_text(text: str, typed: Fields, *, limits: Limits = DEFAULT) -> str:
    """Return the text with the form fields written into it. All other bytes stay. An empty text is a new file."""
    missing = [key for key in _REQUIRED if not getattr(typed, key).strip()]
    values: dict[str, Any] = {key: _PLACEHOLDER if key in missing else getattr(typed, key).strip() for key in _REQUIRED}
    values |= {key: items(getattr(typed, key)) for key in _LISTS}
    values |= {"kind": typed.kind, "instructions": typed.instructions}
    if text:
        skill, _ = read(text, limits=limits)
        new = skill_md.revise(skill, **values, limits=limits)
    else:
        new = skill_md.compose(**values)
    return clear_placeholders(new, missing, limits=limits)


def read(text: str, *, limits: Limits = DEFAULT) -> tuple[SkillMd, frozenset[str]]:
    """Parse a text, with placeholders for missing required keys, and return those keys too."""
    document = frontmatter.parse(text, limits=limits)
    missing = frozenset(key for key in _REQUIRED if _is_missing(document.fields, key))
    if missing:
        text = frontmatter.edit(document, dict.fromkeys(missing, _PLACEHOLDER), limits=limits)
    return skill_md.read(text, limits=limits), missing


def clear_placeholders(text: str, missing: Collection[str], *, limits: Limits = DEFAULT) -> str:
    """Return the text with the placeholders of these keys replaced by empty values."""
    if not missing:
        return text
    return frontmatter.edit(frontmatter.parse(text, limits=limits), dict.fromkeys(missing, ""), limits=limits)


def _is_missing(header: Mapping[str, object], key: str) -> bool:
    value = header.get(key)
    return value is None or (isinstance(value, str) and not value.strip())


def restore_line_endings(old: str, new: str) -> str:
    """Return `new`, as a browser sends it, with the line endings of `old`. Unchanged lines keep theirs exactly."""
    before, after = _LINE.findall(old), _LINE.findall(_LINE_END.sub("\n", new))
    plain = [_LINE_END.sub("\n", line) for line in before]
    common = min(len(plain), len(after))
    start = next((i for i in range(common) if plain[i] != after[i]), common)
    end = next((i for i in range(common - start) if plain[-1 - i] != after[-1 - i]), common - start)
    newline = (_LINE_END.search(old) or ["\n"])[0]
    middle = [line.replace("\n", newline) for line in after[start : len(after) - end]]
    return _join_lines([*before[:start], *middle, *before[len(before) - end :]])


def _join_lines(lines: list[str]) -> str:
    """Join lines without fusing a CR and the LF after it, which would read as one CRLF and lose an empty line."""
    joined: list[str] = []
    for line in lines:
        fuses = line == "\n" and joined and joined[-1].endswith("\r")
        joined.append("\r" if fuses else line)
    return "".join(joined)
