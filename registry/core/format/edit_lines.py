"""Edits a YAML header line by line. Only the lines of changed keys change."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.core.errors import InvalidSkill
from registry.core.format.strict_yaml import Loaded
from registry.core.format.yaml_errors import invalid_skill
from registry.core.format.yaml_positions import Key, read_as, split_lines

NESTED = "metadata."
Value = str | bool | tuple[str, ...]
Changes = Mapping[str, Value | None]

_SPEC_ORDER = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#[^\r\n]*")
_KEEP = re.compile(r"[ \t]*:[ \t]+[|>][1-9]?\+")
_SAFE_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNSAFE_IN_QUOTES = re.compile('[\\\\"\0-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|---')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions in a SKILL.md that an edit needs."""

    file: str
    text: str  # the header between its fences
    start: int  # offsets of the header in the file
    end: int
    newline: str
    source: str  # the header as it was parsed, with quotes added by second_try
    loaded: Loaded


def rewrite(layout: Layout, fields: Mapping[str, object], changes: Changes) -> str:
    """Return the header with these keys set. None removes a key."""
    return _Edit(layout, fields).apply(changes)


def by_level(changes: Changes) -> tuple[Changes, Changes]:
    """Split changes into those at the top level and those inside `metadata`, without the prefix."""
    nested = {name.removeprefix(NESTED): value for name, value in changes.items() if name.startswith(NESTED)}
    return {name: value for name, value in changes.items() if not name.startswith(NESTED)}, nested


def quote(text: str) -> str:
    """Return the text on one line in double quotes. `---` is escaped, because some clients end the header there."""
    return f'"{_UNSAFE_IN_QUOTES.sub(_escape, text)}"'


def join_items(items: Iterable[str]) -> str:
    """Join a list with commas, because the format allows only text inside `metadata`."""
    parts = [" ".join(item.split()) for item in items]
    for part in parts:
        if "," in part:
            raise invalid_skill(
                "metadata-comma",
                "SKILL.md",
                None,
                f"“{part}” contains a comma, but commas separate items.",
                "Remove the comma, or make it two items.",
            )
    return ", ".join(part for part in parts if part)


def key_text(name: str) -> str:
    plain = _SAFE_KEY.fullmatch(name) and read_as(name) == "str"
    return name if plain else quote(name)


class _Edit:
    """Collects replacements for line ranges of a header, then applies them all."""

    def __init__(self, layout: Layout, fields: Mapping[str, object]) -> None:
        self.layout, self.keys, self.fields = layout, layout.loaded.keys, fields
        self.lines = split_lines(layout.text)
        self.source = split_lines(self.layout.source)
        self.pieces: list[tuple[int, int, str]] = []
        self.removed: set[Key] = set()

    def apply(self, changes: Changes) -> str:
        if self.layout.loaded.flow or not self.keys:
            raise self.refuse("The header is not written with one `key: value` per line.")
        top, nested = by_level(changes)
        if nested:  # before the top level, so that a new key at the end comes after `metadata`
            self.change_metadata(nested)
        rank = {name: place for place, name in enumerate(_SPEC_ORDER)}
        for name in sorted(top, key=lambda name: rank.get(name, len(rank))):
            self.change((name,), top[name])
        self.remove_blank_lines()
        self.pieces.sort(key=lambda piece: piece[:2])
        for start, end, text in reversed(self.pieces):
            self.lines[start:end] = [text]
        return "".join(self.lines)

    def change(self, path: tuple[str, ...], value: Value | None) -> None:
        key = self.keys.get(path)
        if key is None:
            if value is not None:
                lead = self.margin() + key_text(path[0])
                self.insert(path[0], self.entry(lead, value, self.layout.newline))
        elif value is None:
            self.remove(key)
        else:
            lead = self.lead(key)
            self.put(key, self.entry(lead, value, self.tail(key), flow=key.line == key.end_line))

    def change_metadata(self, nested: Changes) -> None:
        current = self.fields.get("metadata")
        if current is not None and not isinstance(current, Mapping):
            raise self.refuse("`metadata` is not a list of keys and values, so nothing can be added to it.")
        result = {**(current or {}), **nested}
        result = {name: value for name, value in result.items() if value is not None or name not in nested}
        key = self.keys.get(("metadata",))
        if not result:
            self.change(("metadata",), None)
        elif current and key and key.block:
            self.change_block(nested)
        elif all(isinstance(value, str) for value in result.values()):
            self.write_metadata(key, {name: str(value) for name, value in result.items()})
        else:
            raise self.refuse("`metadata` is written as `{…}` and contains more than text.")

    def change_block(self, nested: Changes) -> None:
        inside = [key for path, key in self.keys.items() if len(path) == 2 and path[0] == "metadata"]
        if not inside:
            raise self.refuse("`metadata` gets its keys from an alias.")
        margin = self.source[inside[0].line][: inside[0].column]
        end = max(key.end_line for key in inside) + 1
        for name, value in nested.items():
            if ("metadata", name) in self.keys:
                self.change(("metadata", name), value)
            elif value is not None:
                text = self.entry(margin + key_text(name), value, self.layout.newline)
                self.pieces.append((end, end, text))

    def write_metadata(self, key: Key | None, result: Mapping[str, str]) -> None:
        margin, newline = self.margin(), self.layout.newline
        lead = self.lead(key) if key else f"{margin}metadata"
        inside = (self.entry(f"{margin}  {key_text(name)}", value, newline) for name, value in result.items())
        text = f"{lead}:{self.tail(key) if key else newline}{''.join(inside)}"
        if key:
            self.put(key, text)
        else:
            self.insert("metadata", text)

    def insert(self, name: str, text: str) -> None:
        """Insert keys of the Agent Skills format in its order, and all others at the end."""
        place = len(self.lines)
        if name in _SPEC_ORDER[:-1]:
            before = [self.keys.get((other,)) for other in _SPEC_ORDER[: _SPEC_ORDER.index(name)]]
            place = max((key.end_line + 1 for key in before if key), default=self.first().line)
        self.pieces.append((place, place, text))

    def remove(self, key: Key) -> None:
        self.put(key, "")
        self.removed.add(key)

    def remove_blank_lines(self) -> None:
        """Remove blank lines below removed keys if they would become part of the value above."""
        ending_at: dict[int, list[Key]] = {}
        for key in self.keys.values():
            ending_at.setdefault(key.end_line, []).append(key)
        for key in self.removed:
            if self.follows_keep_scalar(key, ending_at):
                start = end = key.end_line + 1
                while end < len(self.source) and not self.source[end].strip():
                    end += 1
                self.pieces.append((start, end, ""))

    def follows_keep_scalar(self, key: Key, ending_at: Mapping[int, list[Key]]) -> bool:
        """Check if the next value above that stays is a block scalar with `|+` or `>+`."""
        above = ending_at.get(key.line - 1, [])
        while removed := next((other for other in above if other in self.removed), None):
            above = ending_at.get(removed.line - 1, [])
        return any(other.block and _KEEP.match(self.source[other.line], other.name_end) for other in above)

    def put(self, key: Key, text: str) -> None:
        self.pieces.append((key.line, key.end_line + 1, text))

    def entry(self, lead: str, value: Value, tail: str, *, flow: bool = True) -> str:
        if isinstance(value, bool):
            return f"{lead}: {str(value).lower()}{tail}"
        if isinstance(value, str):
            return f"{lead}: {quote(value)}{tail}"
        if flow or not value:
            return f"{lead}: [{', '.join(map(quote, value))}]{tail}"
        margin = lead[: len(lead) - len(lead.lstrip())]
        newline = self.layout.newline
        return f"{lead}:{tail}" + "".join(f"{margin}  - {quote(item)}{newline}" for item in value)

    def lead(self, key: Key) -> str:
        line = self.source[key.line]
        if line[: key.column].strip("\ufeff ") or not line[key.name_end :].lstrip().startswith(":"):
            raise self.refuse("A key is written with `?`, which the form cannot edit.")
        return line[: key.name_end]

    def tail(self, key: Key) -> str:
        """Return the rest of the line after the value: a comment and the line break."""
        last = self.source[key.end_line]
        if not key.block:
            return last[key.end_column :]
        comment = _COMMENT.search(self.source[key.line], key.name_end)
        return (comment[0] if comment else "") + last[len(last.rstrip("\r\n\x85\u2028\u2029")) :]

    def margin(self) -> str:
        first = self.first()
        return self.source[first.line][: first.column]

    def first(self) -> Key:
        return min(self.keys.values())

    def refuse(self, message: str) -> InvalidSkill:
        fix = "Switch to Code and edit the text there."
        return invalid_skill("frontmatter-edit", self.layout.file, 2, message, fix)


def _escape(match: re.Match[str]) -> str:
    text = match[0]
    if text == "---":
        return "--\\x2d"
    return _ESCAPES.get(text) or (f"\\x{ord(text):02x}" if ord(text) < 0x100 else f"\\u{ord(text):04x}")
