"""What the form of the editor holds, and the SKILL.md it makes: valid or not, nothing that was typed is lost."""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from registry.core.format import frontmatter, skill_md
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits

_REQUIRED = ("name", "description")
_LISTS = ("tags", "requires", "triggers", "inputs", "outputs")
# Stands in for a name or description that is not written yet; no text that is kept ever holds it.
_MISSING = "not-written-yet"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of the form as they were typed; lists are separated by commas or lines."""

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
    """A list as it is typed: one item a line, or several with commas between."""
    parts = (" ".join(part.split()) for line in text.splitlines() for part in line.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def parsed(text: str, *, limits: Limits = DEFAULT) -> Fields:
    """What the form shows for a text; InvalidInput where the header cannot be read.

    A name or description that is missing leaves its field empty, because the form is where one writes it.
    """
    said, missing = read(text, limits=limits)
    return Fields(
        name="" if "name" in missing else said.name,
        description="" if "description" in missing else said.description,
        kind=said.kind,
        **{key: ", ".join(getattr(said, key)) for key in _LISTS},
        instructions=said.instructions,
    )


def written(text: str, typed: Fields, *, limits: Limits = DEFAULT) -> str:
    """The text with what was typed into the form; every other byte of it stays. An empty text is a new file."""
    missing = [key for key in _REQUIRED if not getattr(typed, key).strip()]
    values: dict[str, Any] = {key: _MISSING if key in missing else getattr(typed, key).strip() for key in _REQUIRED}
    values |= {key: items(getattr(typed, key)) for key in _LISTS}
    values |= {"kind": typed.kind, "instructions": typed.instructions}
    if text:
        said, _ = read(text, limits=limits)
        new = skill_md.revise(said, **values, limits=limits)
    else:
        new = skill_md.compose(**values)
    return emptied(new, missing, limits=limits)


def read(text: str, *, limits: Limits = DEFAULT) -> tuple[SkillMd, frozenset[str]]:
    """The text read as if nothing that is required were missing, and what is."""
    document = frontmatter.parse(text, limits=limits)
    missing = frozenset(key for key in _REQUIRED if _is_missing(document.fields, key))
    if missing:
        text = frontmatter.edit(document, dict.fromkeys(missing, _MISSING), limits=limits)
    return skill_md.read(text, limits=limits), missing


def emptied(text: str, missing: Collection[str], *, limits: Limits = DEFAULT) -> str:
    """The text without what stood in for these, as it is kept."""
    if not missing:
        return text
    return frontmatter.edit(frontmatter.parse(text, limits=limits), dict.fromkeys(missing, ""), limits=limits)


def _is_missing(header: Mapping[str, object], key: str) -> bool:
    value = header.get(key)
    return value is None or (isinstance(value, str) and not value.strip())


def with_line_ends_of(old: str, new: str) -> str:
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
