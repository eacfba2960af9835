"""A YAML text as a tree of nodes with their positions, for edits that leave everything else as it is."""

from dataclasses import dataclass, field
from typing import cast

import yaml

from registry.core.format.yaml_positions import Positions

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Node:
    """A scalar, a map, a list or an alias. `start` and `end` are offsets in the text, `end` that of its content.

    A value that is left out has the offset where it could be written. `items` are pairs of a key and its value, or in a
    list of None and an item.
    """

    event: yaml.NodeEvent
    start: int
    end: int
    items: list[tuple["Node | None", "Node"]] = field(default_factory=list)

    @property
    def is_map(self) -> bool:
        return isinstance(self.event, yaml.MappingStartEvent)

    @property
    def is_list(self) -> bool:
        return isinstance(self.event, yaml.SequenceStartEvent)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.event, yaml.ScalarEvent)

    @property
    def is_flow(self) -> bool:
        return isinstance(self.event, yaml.CollectionStartEvent) and bool(self.event.flow_style)

    @property
    def is_block(self) -> bool:
        """True for block maps, block lists and block scalars."""
        if isinstance(self.event, yaml.CollectionStartEvent):
            return not self.event.flow_style
        return self.style in ("|", ">")

    @property
    def style(self) -> str:
        return str(self.event.style or "") if isinstance(self.event, yaml.ScalarEvent) else ""

    @property
    def is_missing(self) -> bool:
        return self.is_scalar and self.start == self.end

    @property
    def text(self) -> str:
        return str(self.event.value) if isinstance(self.event, yaml.ScalarEvent) else ""

    def entry(self, key: str | int) -> "tuple[Node | None, Node] | None":
        """Return a key with its value, or an item of a list."""
        if isinstance(key, int):
            return self.items[key] if self.is_list and 0 <= key < len(self.items) else None
        return next((each for each in self.items if each[0] is not None and each[0].text == key), None)


@dataclass(frozen=True, slots=True)
class Tree:
    text: str
    root: Node | None

    def find(self, path: Path) -> tuple[Node | None, Node] | None:
        """Return a value with its key. None if there is none, or if it comes from an alias."""
        found: tuple[Node | None, Node] | None = (None, self.root) if self.root else None
        for part in path:
            found = found[1].entry(part) if found else None
        return found

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """Return the offset of the line break, or of the end of the text."""
        end = self.text.find("\n", at)
        if end < 0:
            return len(self.text)
        return end - 1 if end > at and self.text[end - 1] == "\r" else end

    def next_line(self, at: int) -> int:
        """Return the offset of the line after this one, or of the end of the text."""
        return self.text.find("\n", at) + 1 or len(self.text)

    def column(self, at: int) -> int:
        return at - self.line_start(at)

    def line_number(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def parse(text: str) -> Tree:
    """Parse a text that `strict_yaml` accepts, so it is small and not deep."""
    return Tree(text, _Builder(text).build())


class _Builder:
    def __init__(self, text: str) -> None:
        self.positions = Positions(text)
        self.stack: list[Node] = []
        self.keys: list[Node | None] = []
        self.root: Node | None = None
        self.text = text

    def build(self) -> Node | None:
        for event in yaml.parse(self.text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                self.close(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self.stack.append(Node(event, _index(event.start_mark), _index(event.start_mark)))
                self.keys.append(None)
            elif isinstance(event, yaml.NodeEvent):
                self.place(Node(event, _index(event.start_mark), self.end(event)))
        return self.root

    def end(self, event: yaml.NodeEvent) -> int:
        if isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">"):
            line = self.positions.end_of(event).line
            return self.positions.starts[line] + len(self.positions.lines[line].rstrip("\r\n"))
        return _index(event.end_mark)

    def close(self, event: yaml.CollectionEndEvent) -> None:
        node = self.stack.pop()
        self.keys.pop()
        if node.is_flow:
            node.end = _index(event.end_mark)
        elif node.items:
            key, value = node.items[-1]
            node.end = max(value.end, key.end if key else 0)
        self.place(node)

    def place(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        parent, key = self.stack[-1], self.keys[-1]
        if parent.is_map and key is None:
            self.keys[-1] = node
            return
        parent.items.append((key, node))
        self.keys[-1] = None


def _index(mark: object) -> int:
    return cast(yaml.Mark, mark).index
