"""Where keys and values stand in a YAML text, for findings that name a line and edits that spare all else."""

import re
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple, cast

import yaml

TAG = "tag:yaml.org,2002:"
_RESOLVER = yaml.resolver.Resolver()
_LINE = re.compile(r"[^\n\r\x85\u2028\u2029]*(?:\r\n|[\n\r\x85\u2028\u2029])|[^\n\r\x85\u2028\u2029]+\Z")


class Place(NamedTuple):
    line: int
    column: int


class Key(NamedTuple):
    """Where a key and its value stand, in 0-based lines and columns."""

    line: int
    column: int
    name_end: int  # the column after the key itself
    end_line: int  # the last line of the value
    end_column: int  # the column after the value on that line; means nothing for a block style
    block: bool  # the value is a block scalar, block list or block map
    read_as: str  # what an ordinary YAML reader makes of the value: str, int, float, bool, map, ...


class Places:
    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.starts = [0, *accumulate(map(len, self.lines))]

    def key(self, key: yaml.ScalarEvent, event: yaml.NodeEvent, value: object, value_end: Place) -> Key:
        """The place of a key; `event` is what its value starts with."""
        kind = "seq" if isinstance(value, tuple) else "map" if isinstance(value, Mapping) else "str"
        block = isinstance(event, yaml.CollectionStartEvent) and not event.flow_style
        if isinstance(event, yaml.ScalarEvent):
            block = event.style in ("|", ">")
            kind = read_as(event.value) if event.style is None and event.tag is None else "str"
        start, end = self._place(key.start_mark), self._place(key.end_mark)
        return Key(*start, end.column, *value_end, block, kind)

    def _place(self, mark: object) -> Place:
        """By index, for the parser's own column skips a byte order mark."""
        at = cast(yaml.Mark, mark)
        return Place(at.line, at.index - self.starts[min(at.line, len(self.lines))])

    def end_of(self, event: yaml.Event) -> Place:
        end = self._place(event.end_mark)
        if not (isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">")):
            return end
        # A block scalar ends where the next line starts; blank lines before that are its own if it kept them.
        last = end.line - 1
        while last > line_of(event) and not self.lines[last].strip():
            last -= 1
        kept = len(event.value) - len(event.value.rstrip("\n")) - 1
        return Place(max(line_of(event), min(last + max(kept, 0), end.line - 1)), 0)


def split_lines(text: str) -> list[str]:
    """Lines as YAML counts them, each with its break."""
    return _LINE.findall(text)


def read_as(plain: str) -> str:
    """What a YAML 1.1 reader makes of a plain scalar; anything but "str" wants quotes to stay text."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, plain, (True, False))  # type: ignore[no-untyped-call]
    return str(tag).removeprefix(TAG)


def line_of(event: yaml.Event) -> int:
    return cast(yaml.Mark, event.start_mark).line
