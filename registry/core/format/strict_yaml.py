"""A strict YAML parser for untrusted files. It rejects duplicate keys and enforces limits while it parses.

Plain scalars of a header stay text, so `version: 1.0` is "1.0" and a date is what the author typed. Only null (`~`,
`null`, nothing) becomes None, and `true` and `false` become bools, so that "false" is not truthy. Keys are always text.
Other files can have numbers too: see `plain_scalars.py`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, cast

import yaml

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.format import plain_scalars
from registry.core.format.yaml_errors import clip, invalid_skill, syntax_error
from registry.core.format.yaml_positions import TAG, Key, Position, Positions, line_of
from registry.core.limits import DEFAULT, Limits

_UNSTORABLE = re.compile(
    "[\0\ud800-\udfff]"
)  # escape sequences can produce these, but UTF-8 and databases cannot store them


Path = tuple[str | int, ...]


class Place(NamedTuple):
    line: int  # 1-based
    text: str | None  # the text of a scalar, as it is written


@dataclass(frozen=True, slots=True)
class Dialect:
    """A reading of plain scalars, and the words for the text in messages."""

    plain: Callable[[str], object]  # raises ValueError with a message and a fix
    subject: str
    values: str
    whole_file: bool  # it may start with `---`, and `places` are recorded


HEADER = Dialect(plain_scalars.words, "The header", "text, lists and maps", whole_file=False)
FILE = Dialect(plain_scalars.json, "The file", "text, numbers, lists and maps", whole_file=True)


@dataclass(frozen=True, slots=True)
class Loaded:
    value: object  # None, bool, int, float, str, tuple, or an immutable mapping
    keys: Mapping[tuple[str, ...], Key]  # of the root map and of the maps right below it
    flow: bool  # the root is written `{…}` or `[…]`
    places: Mapping[Path, Place]  # of every key and item, if the text is a whole file


def load(text: str, *, file: str, first_line: int = 1, limits: Limits = DEFAULT, dialect: Dialect = HEADER) -> Loaded:
    """Parse a single YAML document. `first_line` is its position in `file`, for error messages."""
    return _Builder(text, file, first_line, limits, dialect).run()


class _Node(NamedTuple):
    value: object
    size: int  # number of nodes in it, with aliases expanded
    height: int
    text: str | None = None


@dataclass(slots=True)
class _Frame:
    """A list or map whose end has not been parsed yet."""

    event: yaml.CollectionStartEvent
    path: Path
    items: list[object] = field(default_factory=list)
    entries: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    merged: list[Mapping[str, object]] = field(default_factory=list)
    key: yaml.ScalarEvent | None = None  # the key whose value comes next
    size: int = 1
    height: int = 1

    @property
    def is_map(self) -> bool:
        return isinstance(self.event, yaml.MappingStartEvent)

    @property
    def next_path(self) -> Path:
        """The path of the value that comes next."""
        return (*self.path, self.key.value if self.key else len(self.items))

    @property
    def expects_key(self) -> bool:
        return self.is_map and self.key is None

    def value(self) -> object:
        if not self.is_map:
            return tuple(self.items)
        for base in self.merged:
            for key, value in base.items():
                self.entries.setdefault(key, value)
        return MappingProxyType(self.entries)


class _Builder:
    """Builds values from parser events. It uses its own stack, so that deep nesting cannot exhaust that of Python."""

    def __init__(self, text: str, file: str, first_line: int, limits: Limits, dialect: Dialect) -> None:
        self.text, self.file, self.first_line, self.limits, self.dialect = text, file, first_line, limits, dialect
        self.positions = Positions(text)
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Node | None] = {}
        self.keys: dict[tuple[str, ...], Key] = {}
        self.places: dict[Path, Place] = {}
        self.root: object = None
        self.flow = False
        self.nodes = self.aliases = self.documents = 0
        self.end = Position(0, 0)

    def run(self) -> Loaded:
        try:
            for event in _events(self.text):
                self.take(event)
        except yaml.reader.ReaderError as error:
            line = self.text.count("\n", 0, error.position)
            message = f"The character U+{error.character:04X} is not allowed here."
            raise self.refuse("yaml-character", line, message, "Delete it.") from None
        except yaml.MarkedYAMLError as error:
            raise syntax_error(error, self.file, self.first_line, self.end.line) from None
        return Loaded(self.root, MappingProxyType(self.keys), self.flow, MappingProxyType(self.places))

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent | yaml.DocumentEndEvent):
            self.document(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.close(event)
        elif isinstance(event, yaml.NodeEvent):
            self.node(event)

    def document(self, event: yaml.Event) -> None:
        starts = isinstance(event, yaml.DocumentStartEvent)
        self.documents += starts
        allowed = starts and self.dialect.whole_file
        if self.documents > 1 or (getattr(event, "explicit", False) and not allowed):
            raise self.refuse(
                "yaml-documents",
                line_of(event),
                "This line starts with `---` or `...`, which would start or end a YAML document.",
                "Remove the line.",
            )

    def node(self, event: yaml.NodeEvent) -> None:
        frame = self.stack[-1] if self.stack else None
        if frame and frame.expects_key:
            self.name(frame, event)
        elif isinstance(event, yaml.AliasEvent):
            self.end = self.positions.end_of(event)
            self.place(self.alias(event), event, None)
        elif isinstance(event, yaml.ScalarEvent):
            self.place(_Node(self.scalar(event), 1, 0, event.value), event, event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self.open(event)

    def name(self, frame: _Frame, event: yaml.NodeEvent) -> None:
        line = line_of(event)
        if isinstance(event, yaml.ScalarEvent):
            self.check_scalar(event)
        if not isinstance(event, yaml.ScalarEvent) or not event.value or _is_null(event):
            raise self.refuse(
                "yaml-key",
                line,
                "A key is empty, a list, a map or an alias.",
                "Use plain text as the key.",
            )
        self.count(1, line)
        first = frame.lines.setdefault(event.value, line)
        if first != line or event.value in frame.entries:
            both = f"{self.first_line + first} and {self.first_line + line}"
            raise self.refuse(
                "yaml-duplicate-key",
                line,
                f"The key `{clip(event.value)}` appears twice, on lines {both}.",
                "Remove one of them.",
            )
        if event.anchor:
            self.anchors[event.anchor] = _Node(event.value, 1, 0, event.value)
        frame.key = event
        frame.size += 1

    def scalar(self, event: yaml.ScalarEvent) -> object:
        self.check_scalar(event)
        if not _is_plain(event):
            return str(event.value)
        try:
            return self.dialect.plain(event.value)
        except ValueError as error:
            raise self.refuse("yaml-number", line_of(event), *error.args) from None

    def check_scalar(self, event: yaml.ScalarEvent) -> None:
        self.check_tag(event, "str")
        if _UNSTORABLE.search(event.value):
            raise self.refuse(
                "yaml-character",
                line_of(event),
                "An escape sequence stands for an invalid character.",
                "Remove the escape sequence.",
            )
        self.end = self.positions.end_of(event)

    def alias(self, event: yaml.AliasEvent) -> _Node:
        line = line_of(event)
        self.aliases += 1
        if self.aliases > self.limits.yaml_aliases:
            raise self.too_large("yaml-aliases", line, "aliases", self.aliases, self.limits.yaml_aliases)
        anchor = event.anchor or ""
        node = self.anchors.get(anchor)
        if node is None:
            raise self.refuse(
                "yaml-alias",
                line,
                f"The alias `*{clip(anchor)}` does not refer to anything above it.",
                "Write the value in full.",
            )
        return node

    def open(self, event: yaml.CollectionStartEvent) -> None:
        self.check_tag(event, "map" if isinstance(event, yaml.MappingStartEvent) else "seq")
        self.stack.append(_Frame(event, self.stack[-1].next_path if self.stack else ()))
        self.check_depth(len(self.stack), line_of(event))
        self.count(1, line_of(event))
        if event.anchor:
            self.anchors[event.anchor] = None

    def close(self, event: yaml.CollectionEndEvent) -> None:
        frame = self.stack.pop()
        if frame.event.flow_style:
            self.end = self.positions.end_of(event)
        if not self.stack:
            self.flow = bool(frame.event.flow_style)
        self.nodes -= frame.size  # `place` counts them again
        self.place(_Node(frame.value(), frame.size, frame.height), frame.event, frame.event.anchor)

    def place(self, node: _Node, event: yaml.NodeEvent, anchor: str | None) -> None:
        line = line_of(event)
        self.count(node.size, line)
        self.check_depth(len(self.stack) + node.height, line)
        if anchor:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node.value
            return
        frame = self.stack[-1]
        if self.dialect.whole_file:
            at = line_of(frame.key) if frame.key else line
            self.places[frame.next_path] = Place(self.first_line + at, node.text)
        frame.size += node.size
        frame.height = max(frame.height, node.height + 1)
        if frame.key is None:
            frame.items.append(node.value)
        else:
            self.enter(frame, frame.key, node.value, event)
            frame.key = None

    def enter(self, frame: _Frame, key: yaml.ScalarEvent, value: object, event: yaml.NodeEvent) -> None:
        if key.value == "<<" and key.style is None:
            parts = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(part, Mapping) for part in parts):
                raise self.refuse(
                    "yaml-key", line_of(key), "The value of the merge key `<<` is not a map.", "Write the keys in full."
                )
            frame.merged.extend(parts)
            return
        frame.entries[key.value] = value
        path = tuple(part for part in frame.path if isinstance(part, str))
        if len(frame.path) <= 1 and len(path) == len(frame.path):
            self.keys[(*path, key.value)] = self.positions.key(key, event, value, self.end)

    def check_tag(self, event: yaml.NodeEvent, kind: str) -> None:
        tag = getattr(event, "tag", None)
        if tag not in (None, "!", TAG + kind):
            raise self.refuse(
                "yaml-tag",
                line_of(event),
                f"The tag `{clip(str(tag))}` is not allowed.",
                f"Remove the tag. Values can be {self.dialect.values}.",
            )

    def check_depth(self, depth: int, line: int) -> None:
        if depth > self.limits.yaml_depth:
            raise self.too_large("yaml-depth", line, "levels of nesting", depth, self.limits.yaml_depth)

    def count(self, size: int, line: int) -> None:
        self.nodes += size
        if self.nodes > self.limits.yaml_nodes:
            raise self.too_large("yaml-nodes", line, "YAML nodes", self.nodes, self.limits.yaml_nodes)

    def refuse(self, rule: str, line: int, message: str, fix: str) -> InvalidSkill:
        return invalid_skill(rule, self.file, self.first_line + line, message, fix)

    def too_large(self, rule: str, line: int, what: str, hit: int, allowed: int) -> TooLarge:
        message = f"{self.dialect.subject} has {hit:,} or more {what}. {allowed:,} are allowed."
        line += self.first_line
        finding = Finding(rule, Severity.ERROR, self.file, line, message, "Make it smaller.")
        return TooLarge(
            f"{self.file}, line {line}: {message} Nothing was saved.", findings=[finding], hit=hit, allowed=allowed
        )


def _is_plain(event: yaml.ScalarEvent) -> bool:
    return event.style is None and event.tag is None


def _is_null(event: yaml.ScalarEvent) -> bool:
    return _is_plain(event) and plain_scalars.is_null(event.value)


def _events(text: str) -> Iterator[yaml.Event]:
    loader = yaml.SafeLoader(text)
    try:
        while loader.check_event():
            yield cast(yaml.Event, loader.get_event())  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError):  # PyYAML does not check the digits of escapes and directives
        raise yaml.MarkedYAMLError(problem="out of range", problem_mark=loader.get_mark()) from None
    finally:
        loader.dispose()
