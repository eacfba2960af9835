"""Positions of keys and values in a YAML text, for findings with line numbers and for line-by-line edits."""

import re
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple, cast

import yaml

TAG = "tag:yaml.org,2002:"
_RESOLVER = yaml.resolver.Resolver()
_LINE = re.compile(r"[^\n\r\x85\u2028\u2029]*(?:\r\n|[\n\r\x85\u2028\u2029])|[^\n\r\x85\u2028\u2029]+\Z")


class Position(NamedTuple):
    line: int
    column: int


class Key(NamedTuple):
    """The position of a key and its value, in 0-based lines and columns."""

    line: int
    column: int
    name_end: int  # the column after the key itself
    end_line: int  # the last line of the value
    end_column: int  # the column after the value on that line; undefined for block styles
    block: bool  # the value is a block scalar, block list or block map
    read_as: str  # the type for an ordinary YAML parser: str, int, float, bool, map, ...


class Positions:
    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.starts = [0, *accumulate(map(len, self.lines))]

    def key(self, key: yaml.ScalarEvent, event: yaml.NodeEvent, value: object, value_end: Position) -> Key:
        """Return the position of a key. `event` is the first event of its value."""
        kind = "seq" if isinstance(value, tuple) else "map" if isinstance(value, Mapping) else "str"
        block = isinstance(event, yaml.CollectionStartEvent) and not event.flow_style
        if isinstance(event, yaml.ScalarEvent):
            block = event.style in ("|", ">")
            kind = read_as(event.value) if event.style is None and event.tag is None else "str"
        start, end = self._position(key.start_mark), self._position(key.end_mark)
        return Key(*start, end.column, *value_end, block, kind)

    def _position(self, mark: object) -> Position:
        """Compute the column from the index, because the parser does not count a byte order mark."""
        at = cast(yaml.Mark, mark)
        return Position(at.line, at.index - self.starts[min(at.line, len(self.lines))])

    def end_of(self, event: yaml.Event) -> Position:
        end = self._position(event.end_mark)
        if not (isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">")):
            return end
        # The parser ends a block scalar at the next line. Blank lines before it belong to it only if it keeps them.
        last = end.line - 1
        while last > line_of(event) and not self.lines[last].strip():
            last -= 1
        kept = len(event.value) - len(event.value.rstrip("\n")) - 1
        return Position(max(line_of(event), min(last + max(kept, 0), end.line - 1)), 0)


def split_lines(text: str) -> list[str]:
    """Split at the line breaks of YAML, and keep them."""
    return _LINE.findall(text)


def read_as(plain: str) -> str:
    """Return the type of a plain scalar in YAML 1.1. Anything but "str" needs quotes to be text."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, plain, (True, False))  # type: ignore[no-untyped-call]
    return str(tag).removeprefix(TAG)


def line_of(event: yaml.Event) -> int:
    return cast(yaml.Mark, event.start_mark).line
